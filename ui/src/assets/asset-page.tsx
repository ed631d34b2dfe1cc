import type { Asset } from "../../../src/core/api/asset-schemas.ts";
import { api } from "../shared/api.ts";
import { AssetActions } from "./asset-actions.tsx";
import { History } from "./history.tsx";
import { refsText } from "./asset-status.ts";
import { Versions } from "./versions.tsx";
import { short } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Badge } from "../shared/chip.tsx";
import { CopyId } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { Card, Page } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { Time } from "../shared/time.tsx";

export default function AssetPage({ params }: { params: Readonly<Record<string, string>> }) {
  const assetId = params["assetId"] ?? "";
  const loaded = useQuery(
    `asset ${assetId}`,
    (signal) => api.getAsset({ params: { asset_id: assetId }, signal }),
    { everyMs: 5000 },
  );
  const asset = loaded.data;
  return (
    <Page
      title={asset === undefined ? "Asset" : refsText(asset.platform_refs)}
      heading={
        <>
          {asset === undefined ? "Asset" : refsText(asset.platform_refs)}
          <CopyId id={assetId} text={short(assetId)} what="Asset id" />
          {asset === undefined ? null : <Badge>{asset.clearance_state}</Badge>}
          {asset === undefined || asset.deleted_at === null ? null : <Badge>deleted</Badge>}
        </>
      }
      actions={asset === undefined ? null : <AssetActions asset={asset} done={loaded.reload} />}
    >
      <Await loaded={loaded} what="the asset">
        {(found) => (
          <>
            <Glance asset={found} />
            <Card title="Versions" flush>
              <Versions asset={found} done={loaded.reload} />
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
        <dd>{asset.platform_id}</dd>
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
