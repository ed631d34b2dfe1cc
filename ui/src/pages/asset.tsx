import type { Asset, AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { clearanceState } from "../../../src/core/model/asset.ts";
import { api } from "../api.ts";
import { approvalLook, processingLook, refsText } from "../assets/look.ts";
import { VersionActions } from "../assets/version-actions.tsx";
import { short } from "../lib/format.ts";
import { useQuery } from "../live/use-query.ts";
import { Action } from "../parts/action.tsx";
import { Badge, Chip } from "../parts/chip.tsx";
import { CopyId } from "../parts/copy.tsx";
import { Icon } from "../parts/icon.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Await } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { Link } from "../router.tsx";

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
        </>
      }
      actions={asset === undefined ? null : <ClearanceActions asset={asset} done={loaded.reload} />}
    >
      <Await loaded={loaded} what="the asset">
        {(found) => (
          <>
            <Card title="At a glance">
              <dl className="facts">
                <dt>Platform</dt>
                <dd>{found.platform_id}</dd>
                <dt>Served</dt>
                <dd>
                  {found.latest_approved_version_ordinal === null
                    ? "nothing: no version is approved"
                    : `version #${found.latest_approved_version_ordinal}`}
                  , {found.exposure}
                </dd>
                <dt>Clearance</dt>
                <dd>
                  {found.clearance_state}
                  {found.cleared_by === null ? "" : `, by ${found.cleared_by}`}
                </dd>
                <dt>Created</dt>
                <dd>
                  <Time at={found.created_at} />
                </dd>
                {found.services.map((service) => (
                  <Service key={service.version} service={service} />
                ))}
              </dl>
            </Card>
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

function Versions({ asset, done }: { asset: Asset; done: () => void }) {
  return (
    <table>
      <thead>
        <tr>
          <th>Version</th>
          <th>Processing</th>
          <th>Approval</th>
          <th className="num">Revision</th>
          <th>Reviewed</th>
          <th>Job</th>
          <th>
            <span className="visually-hidden">Do</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {[...asset.versions]
          .sort((a, b) => b.version_ordinal - a.version_ordinal)
          .map((version) => (
            <tr key={version.version_ordinal}>
              <td>
                {version.version_label} <Badge>#{version.version_ordinal}</Badge>
                {version.deleted_at === null ? null : <Badge>deleted</Badge>}
              </td>
              <td>
                <Chip
                  status={processingLook[version.processing_state]}
                  text={version.processing_state}
                />
                {version.processing_error === null ? null : (
                  <div className="error-text clamp">{version.processing_error}</div>
                )}
              </td>
              <td>
                <Chip
                  status={approvalLook[version.approval_state]}
                  text={version.approval_state.replace("_", " ")}
                />
                {version.rejection_reason === null ? null : (
                  <div className="dim clamp">{version.rejection_reason}</div>
                )}
              </td>
              <td className="num">{version.revision}</td>
              <td>
                {version.reviewer ?? "–"}{" "}
                {version.reviewed_at === null ? null : (
                  <span className="dim">
                    <Time at={version.reviewed_at} relative />
                  </span>
                )}
              </td>
              <td>
                <JobLink version={version} />
              </td>
              <td className="row">
                <VersionActions asset={asset} version={version} done={done} />
              </td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function JobLink({ version }: { version: AssetVersion }) {
  const id = version.current_job_id;
  if (id === null) return <>–</>;
  return (
    <Link to={`/jobs/${encodeURIComponent(id)}`}>
      <code>{short(id)}</code>
    </Link>
  );
}

function ClearanceActions({ asset, done }: { asset: Asset; done: () => void }) {
  const others = clearanceState.options.filter((each) => each !== asset.clearance_state);
  return (
    <>
      {others.map((clearance) => (
        <Action
          key={clearance}
          icon={clearance === "public" ? "eye" : "ban"}
          label={`Set ${clearance}`}
          title={`Set the clearance to ${clearance}?`}
          needs="curate"
          danger={clearance === "uncleared"}
          reason="optional"
          run={async (reason) => {
            await api.setClearance({
              params: { asset_id: asset.asset_id },
              body: { clearance, ...(reason === "" ? {} : { reason }) },
              headers: { "if-match": `"${asset.row_version}"` },
            });
            done();
            return `The clearance is ${clearance}`;
          }}
        >
          <p>
            This holds at once for every version. Public clearance exports what is approved to the
            public zone.
          </p>
        </Action>
      ))}
    </>
  );
}

function History({ assetId }: { assetId: string }) {
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
          <table>
            <thead>
              <tr>
                <th>When</th>
                <th>What</th>
                <th>Version</th>
                <th>Who</th>
                <th>Details</th>
              </tr>
            </thead>
            <tbody>
              {[...items].reverse().map((event) => (
                <tr key={event.event_id}>
                  <td className="nowrap">
                    <Time at={event.created_at} />
                  </td>
                  <td>{event.event_type.replaceAll("_", " ")}</td>
                  <td>{event.version_ordinal === null ? "–" : `#${event.version_ordinal}`}</td>
                  <td>
                    {event.actor}
                    {event.via === event.actor ? "" : <span className="dim"> via {event.via}</span>}
                  </td>
                  <td>
                    <code className="clamp">
                      {event.event_data === null ? "" : JSON.stringify(event.event_data)}
                    </code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Await>
    </Card>
  );
}
