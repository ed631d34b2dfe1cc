import { api } from "../shared/api.ts";
import { useQuery } from "../shared/query-client.ts";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

/** Who did what to an asset, the last first. */
export function History({ assetId }: { assetId: string }) {
  const loaded = useQuery(
    `asset events ${assetId}`,
    (signal) =>
      api.listAssetEvents({ params: { asset_id: assetId }, query: { limit: 500 }, signal }),
    { everyMs: 5000 },
  );
  return (
    <Card title="History" flush>
      <Await loaded={loaded} what="the history">
        {({ items }) => (
          <Table
            rows={[...items].reverse()}
            keyOf={({ event_id }) => event_id}
            columns={[
              { name: "When", oneLine: true, cell: (event) => <Time at={event.created_at} /> },
              { name: "What", cell: (event) => event.event_type.replaceAll("_", " ") },
              {
                name: "Version",
                cell: ({ version_ordinal: at }) => (at === null ? "–" : `#${at}`),
              },
              {
                name: "Who",
                cell: ({ actor, via }) => (
                  <>
                    {actor}
                    {via === actor ? "" : <span className="dim"> via {via}</span>}
                  </>
                ),
              },
              {
                name: "Details",
                wideOnly: true,
                cell: ({ event_data }) => (
                  <code className="clamp">
                    {event_data === null ? "" : JSON.stringify(event_data)}
                  </code>
                ),
              },
            ]}
          />
        )}
      </Await>
    </Card>
  );
}
