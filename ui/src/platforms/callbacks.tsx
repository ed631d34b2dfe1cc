import type { Delivery } from "../../../src/core/api/deliveries.ts";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { short } from "../shared/format.ts";
import type { Status } from "../shared/status.ts";
import { useQuery } from "../shared/query-client.ts";
import { Action } from "../shared/action.tsx";
import { Chip } from "../shared/chip.tsx";
import { curl } from "../shared/copy.tsx";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import type { Column } from "../shared/table.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

const looks: Readonly<Record<Delivery["state"], Status>> = {
  pending: "retrying",
  delivered: "ok",
  exhausted: "failed",
};

const facts: readonly Column<Delivery>[] = [
  { name: "State", cell: ({ state }) => <Chip status={looks[state]} text={state} /> },
  {
    name: "Event",
    cell: ({ event_type, request_id, job_id }) => (
      <>
        {event_type} <code className="dim">{short(request_id ?? job_id ?? "")}</code>
      </>
    ),
  },
  { name: "Platform", cell: ({ platform_id }) => platform_id ?? "–" },
  { name: "To", wideOnly: true, cell: ({ url }) => <span className="clamp">{url}</span> },
  { name: "Attempts", numeric: true, cell: ({ attempts }) => attempts },
  {
    name: "When",
    oneLine: true,
    cell: ({ delivered_at, created_at }) => <Time at={delivered_at ?? created_at} relative />,
  },
  {
    name: "Last error",
    wideOnly: true,
    cell: ({ last_error }) => <span className="clamp error-text">{last_error}</span>,
  },
];

/** Callbacks to platforms: what arrived, what is tried again, what was given up. */
export function Deliveries() {
  const loaded = useQuery(
    "deliveries",
    (signal) => api.listDeliveries({ query: { limit: 50 }, signal }),
    { everyMs: 5000 },
  );
  return (
    <Card title="Callbacks" flush>
      <Await loaded={loaded} what="the callbacks">
        {({ items }) =>
          items.length === 0 ? (
            <p className="dim card-body">No callback has been sent yet.</p>
          ) : (
            <Table
              rows={items}
              keyOf={({ event_id }) => event_id}
              columns={[
                ...facts,
                {
                  name: "Do",
                  unnamed: true,
                  cell: (delivery) => <Redeliver delivery={delivery} done={loaded.reload} />,
                },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}

function Redeliver({ delivery, done }: { delivery: Delivery; done: () => void }) {
  const { event_id } = delivery;
  return (
    <Action
      icon="retry"
      label="Send again"
      title="Send this callback again?"
      copy={() => ({
        command: commands.redeliver(event_id),
        request: curl("POST", `/api/v1/deliveries/${encodeURIComponent(event_id)}/redeliver`),
      })}
      run={async () => {
        await api.redeliver({ params: { event_id } });
        done();
        return "It is sent again";
      }}
    >
      <p>It is the same event with the same id: whoever knows it already may ignore it.</p>
    </Action>
  );
}
