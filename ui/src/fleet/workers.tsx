import { useQuery } from "@tanstack/react-query";
import { api } from "../shared/api.ts";
import { plural } from "../shared/format.ts";
import { Card } from "../shared/page.tsx";
import { Await, Notice } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { Alive } from "./orchestrators.tsx";

export function Workers() {
  const workers = useQuery({
    queryKey: ["workers"],
    queryFn: ({ signal }) => api.listWorkers({ signal }),
    refetchInterval: 3000,
  });
  return (
    <Card title="Workers" flush>
      <Await query={workers} what="the workers">
        {({ items }) =>
          items.length === 0 ? (
            <Notice icon="fleet" title="No workers">
              <p>
                Tasks wait until a worker connects: start one with <code>rmhdag worker</code>.
              </p>
            </Notice>
          ) : (
            <Table
              rows={items}
              keyOf={({ worker_id }) => worker_id}
              columns={[
                { name: "State", cell: ({ alive }) => <Alive alive={alive} /> },
                { name: "Name", cell: ({ worker_id }) => <code>{worker_id}</code> },
                { name: "Queues", cell: ({ queue_slots }) => <Shares {...queue_slots} /> },
                { name: "Slots", oneLine: true, cell: (worker) => <Slots {...worker} /> },
                {
                  name: "Heartbeat",
                  oneLine: true,
                  cell: ({ heartbeat_at }) => <Time at={heartbeat_at} relative />,
                },
                {
                  name: "Sandbox",
                  cell: ({ gdal }) => (
                    <span title={gdal?.sandbox_reason ?? undefined}>{gdal?.sandbox ?? "–"}</span>
                  ),
                },
                { name: "Where", cell: ({ host, pid }) => `${host} · ${pid}` },
                { name: "Version", cell: ({ version }) => version },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}

/** A worker divides its slots among its queues: the slots of one do not serve another. */
function Shares(shares: Readonly<Record<string, number>>) {
  return Object.entries(shares)
    .map(([queue, slots]) => `${queue} (${plural(slots, "slot")})`)
    .join(", ");
}

function Slots({ busy, slots }: { busy: number; slots: number }) {
  return (
    <>
      <span className="progress" aria-hidden>
        <span style={{ width: `${(busy / Math.max(slots, 1)) * 100}%` }} />
      </span>{" "}
      {busy} of {slots}
    </>
  );
}
