import { useQuery } from "@tanstack/react-query";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { plural } from "../shared/format.ts";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

/** As many as one request puts back. */
const most = 500;

/** The dead letters of a queue with their reasons; one or all of them can be put back. */
export function DeadLetters({ queue }: { queue: string }) {
  const letters = useQuery({
    queryKey: ["dead-letters", queue],
    queryFn: ({ signal }) =>
      api.listDeadLetters({ params: { queue }, query: { limit: most }, signal }),
  });
  return (
    <div className="card-body stack">
      <h3>Dead letters of {queue}</h3>
      <Await query={letters} what="the dead letters">
        {({ items }) => (
          <>
            <Table
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Reason",
                  cell: ({ reason, detail }) => (
                    <>
                      {reason} <span className="dim">{detail}</span>
                    </>
                  ),
                },
                { name: "Deliveries", numeric: true, cell: (letter) => letter.delivery_count },
                {
                  name: "When",
                  oneLine: true,
                  cell: ({ died_at }) => <Time at={died_at} relative />,
                },
                {
                  name: "Message",
                  cell: ({ body }) => <code className="clamp">{body}</code>,
                },
                {
                  name: "Actions",
                  unnamed: true,
                  cell: ({ id }) => <Requeue queue={queue} ids={[id]} label="Put back" />,
                },
              ]}
            />
            {items.length < most ? null : (
              <p className="dim">The newest {most}. The others follow when these are put back.</p>
            )}
            <div>
              <Requeue
                queue={queue}
                ids={items.map(({ id }) => id)}
                label="Put all back on the queue"
              />
            </div>
          </>
        )}
      </Await>
    </div>
  );
}

function Requeue({ queue, ids, label }: { queue: string; ids: readonly string[]; label: string }) {
  const body = { ids: [...ids] };
  return (
    <Action
      icon="retry"
      label={label}
      title={`Put ${plural(ids.length, "message")} back on ${queue}?`}
      disabled={ids.length === 0}
      copy={() => ({
        command: commands.requeue(queue, ids),
        request: curl(
          "POST",
          `/api/v1/queues/${encodeURIComponent(queue)}/dead-letters/requeue`,
          body,
        ),
      })}
      run={async () => {
        const { requeued } = await api.requeueDeadLetters({ params: { queue }, body });
        invalidate("dead-letters", queue);
        invalidate("queues");
        return `${plural(requeued, "message")} back on ${queue}`;
      }}
    >
      <p>
        Their count of deliveries starts at zero. A result for an attempt that is no longer current
        is recorded as ignored and changes nothing.
      </p>
    </Action>
  );
}
