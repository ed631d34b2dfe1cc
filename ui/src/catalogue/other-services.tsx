import { useQuery } from "@tanstack/react-query";
import { api } from "../shared/api.ts";
import { CopyId } from "../shared/copy.tsx";
import { Card } from "../shared/page.tsx";
import { Badge } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

/** Layers of other services, which the platform knows by their address and does not store. */
export function OtherServices() {
  const { data } = useQuery({
    queryKey: ["external-services", "layers"],
    queryFn: ({ signal }) => api.listExternalServices({ query: { layers: "true" }, signal }),
    refetchInterval: 30_000,
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Card title="Layers of other services" flush>
      <Table
        rows={data.items}
        keyOf={({ service_id }) => service_id}
        columns={[
          {
            name: "Health",
            cell: ({ health, health_error }) => <Badge title={health_error ?? ""}>{health}</Badge>,
          },
          { name: "Name", cell: ({ name }) => name },
          { name: "Kind", cell: ({ kind }) => kind },
          { name: "Address", cell: ({ url }) => <CopyId id={url} text={url} what="Address" /> },
          { name: "Attribution", cell: ({ attribution }) => attribution ?? "–" },
          {
            name: "Checked",
            oneLine: true,
            cell: (each) => <Time at={each.checked_at} relative />,
          },
        ]}
      />
    </Card>
  );
}
