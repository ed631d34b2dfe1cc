import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { Asset, AssetEvent } from "../../../src/core/api/asset-schemas.ts";
import { api } from "../shared/api.ts";
import { CopyId } from "../shared/copy.tsx";
import { short } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import type { PageProps } from "../shared/page.tsx";
import { Card, Page } from "../shared/page.tsx";
import { assetQuery } from "../shared/queries.ts";
import { Await } from "../shared/states.tsx";
import { Badge } from "../shared/status.tsx";
import { Table } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { AssetActions } from "./asset-actions.tsx";
import { refsText, titleOf } from "./asset-status.ts";
import { Versions } from "./versions.tsx";

export default function AssetPage({ params }: PageProps) {
  const assetId = params["assetId"] ?? "";
  const loaded = useQuery(assetQuery(assetId));
  const asset = loaded.data;
  return (
    <Page
      title={asset === undefined ? "Asset" : titleOf(asset)}
      heading={
        <>
          {asset === undefined ? "Asset" : titleOf(asset)}
          <CopyId id={assetId} text={short(assetId)} what="Asset id" />
          {asset === undefined ? null : <Badge>{asset.clearance_state}</Badge>}
          {asset === undefined || asset.deleted_at === null ? null : <Badge>deleted</Badge>}
        </>
      }
      actions={
        asset === undefined ? null : (
          <>
            <Link className="button" to={`/lineage?asset=${assetId}`}>
              <Icon name="fork" /> Lineage
            </Link>
            <AssetActions asset={asset} />
          </>
        )
      }
    >
      <Await query={loaded} what="the asset">
        {(found) => (
          <>
            <Glance asset={found} />
            <Card title="Versions" flush>
              <Versions asset={found} />
            </Card>
            <History assetId={assetId} />
          </>
        )}
      </Await>
    </Page>
  );
}

function Glance({ asset }: { asset: Asset }) {
  return (
    <Card title="At a glance">
      <dl className="facts">
        <dt>Platform</dt>
        <dd>
          {asset.platform_id}, {refsText(asset.platform_refs)}
        </dd>
        <dt>Served</dt>
        <dd>
          {asset.latest_approved_version_ordinal === null
            ? "nothing: no version is approved"
            : `version #${asset.latest_approved_version_ordinal}`}
          , {asset.exposure}
        </dd>
        <dt>Clearance</dt>
        <dd>
          {asset.clearance_state}
          {asset.cleared_by === null ? "" : `, by ${asset.cleared_by}`}
        </dd>
        <dt>Created</dt>
        <dd>
          <Time at={asset.created_at} />
        </dd>
        {asset.services.map((service) => (
          <Service key={service.version} service={service} />
        ))}
      </dl>
    </Card>
  );
}

function Service({ service }: { service: Asset["services"][number] }) {
  return (
    <>
      <dt>{service.version}</dt>
      <dd className="row">
        <a className="button" href={service.map}>
          <Icon name="map" /> Map
        </a>
        <a href={service.tilejson}>TileJSON</a>
        {service.features === null ? null : <a href={service.features}>Features</a>}
        {service.stac_item === null ? null : <a href={service.stac_item}>STAC</a>}
      </dd>
    </>
  );
}

/** All events of an asset. The server lists the oldest first, so the newest are on the last page. */
async function readEvents(asset_id: string, signal: AbortSignal): Promise<AssetEvent[]> {
  const events: AssetEvent[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 500, ...(cursor === undefined ? {} : { cursor }) };
    const page = await api.listAssetEvents({ params: { asset_id }, query, signal });
    events.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return events;
}

/** The audit history of an asset, the newest entry first. */
function History({ assetId }: { assetId: string }) {
  const events = useQuery({
    queryKey: ["asset", assetId, "events"],
    queryFn: ({ signal }) => readEvents(assetId, signal),
    refetchInterval: 5000,
  });
  return (
    <Card title="History" flush>
      <Await query={events} what="the history">
        {(items) => (
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
