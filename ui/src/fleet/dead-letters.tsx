import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { plural } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Action } from "../shared/action.tsx";
import { curl } from "../shared/copy.tsx";
import { Await } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

/** Messages that were given up, why, and the way back for all of them or for one. */
export function DeadLetters({ queue, done }: { queue: string; done: () => void }) {
  const loaded = useQuery(`dead ${queue}`, (signal) =>
    api.listDeadLetters({ params: { queue }, query: { limit: 100 }, signal }),
  );
  const reload = () => {
    loaded.reload();
    done();
  };
  return (
    <div className="card-body stack">
      <h3>Messages of {queue} that were given up</h3>
      <Await loaded={loaded} what="the dead letters">
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
                  wideOnly: true,
                  cell: ({ body }) => <code className="clamp">{body}</code>,
                },
                {
                  name: "Do",
                  unnamed: true,
                  cell: ({ id }) => (
                    <Requeue queue={queue} ids={[id]} label="Put back" reload={reload} />
                  ),
                },
              ]}
            />
            <div>
              <Requeue
                queue={queue}
                ids={items.map(({ id }) => id)}
                label="Put all back on the queue"
                reload={reload}
              />
            </div>
          </>
        )}
      </Await>
    </div>
  );
}

function Requeue({
  queue,
  ids,
  label,
  reload,
}: {
  queue: string;
  ids: readonly string[];
  label: string;
  reload: () => void;
}) {
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
        reload();
        return `${plural(requeued, "message")} back on ${queue}`;
      }}
    >
      <p>
        They get a fresh count of deliveries. A result that nobody waits for any more is recorded
        and changes nothing.
      </p>
    </Action>
  );
}
