import { useQuery } from "@tanstack/react-query";
import { number } from "../shared/format.ts";
import { Card } from "../shared/page.tsx";
import { orchestratorsQuery } from "../shared/queries.ts";
import { Await } from "../shared/states.tsx";
import { Chip } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

export function Alive({ alive }: { alive: boolean }) {
  return <Chip status={alive ? "ok" : "down"} text={alive ? "alive" : "no heartbeat"} />;
}

export function Orchestrators() {
  const orchestrators = useQuery({ ...orchestratorsQuery, refetchInterval: 3000 });
  return (
    <Card title="Orchestrators" flush>
      <Await query={orchestrators} what="the orchestrators">
        {({ items }) => (
          <Table
            rows={items}
            keyOf={({ owner_id }) => owner_id}
            columns={[
              { name: "State", cell: ({ alive }) => <Alive alive={alive} /> },
              { name: "Name", cell: ({ owner_id }) => <code>{owner_id}</code> },
              { name: "Jobs owned", numeric: true, cell: ({ jobs }) => number(jobs) },
              {
                name: "Heartbeat",
                oneLine: true,
                cell: ({ heartbeat_at }) => <Time at={heartbeat_at} relative />,
              },
              {
                name: "Up since",
                cell: ({ started_at }) => <Time at={started_at} />,
              },
              { name: "Where", cell: ({ host, pid }) => `${host} · ${pid}` },
              { name: "Version", cell: ({ version }) => version },
            ]}
          />
        )}
      </Await>
    </Card>
  );
}
