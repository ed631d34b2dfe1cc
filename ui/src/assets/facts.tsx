import type { AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { api } from "../api.ts";
import { short } from "../lib/format.ts";
import { useQuery } from "../live/use-query.ts";
import { Chip } from "../parts/chip.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Card } from "../parts/page.tsx";
import { Await } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { Link } from "../router.tsx";
import { processingLook } from "./look.ts";

/** What is known of a version: how it was made, what the handlers found, each revision. */
export function Facts({ version }: { version: AssetVersion }) {
  const { asset_id, version_ordinal, current_job_id } = version;
  const detail = useQuery(
    `version detail ${asset_id} ${version_ordinal} ${version.revision} ${version.processing_state}`,
    (signal) => api.getAssetVersion({ params: { asset_id, version_ordinal }, signal }),
  );
  const findings = useQuery(`findings ${current_job_id ?? ""}`, async (signal) =>
    current_job_id === null
      ? []
      : (
          await api.listJobLogs({
            params: { job_id: current_job_id },
            query: { level: "warn", limit: 100 },
            signal,
          })
        ).items,
  );
  return (
    <>
      <Card
        title="Findings"
        aside={
          current_job_id === null ? null : (
            <Link to={`/jobs/${encodeURIComponent(current_job_id)}`}>
              Job <code>{short(current_job_id)}</code>
            </Link>
          )
        }
      >
        <Await loaded={findings} what="the findings">
          {(lines) =>
            lines.length === 0 ? (
              <p className="dim">The handlers warned of nothing.</p>
            ) : (
              <>
                {lines.map((line) => (
                  <div key={line.log_id} className="finding">
                    <strong className={line.level === "error" ? "error-text" : ""}>
                      {line.level}
                    </strong>
                    <span>
                      {line.message} <span className="dim">{line.node_id}</span>
                    </span>
                  </div>
                ))}
              </>
            )
          }
        </Await>
      </Card>
      <Await loaded={detail} what="the version">
        {({ revisions, requests }) => (
          <Card title="Revisions">
            <div className="stack">
              {revisions.map((revision) => (
                <div key={revision.revision} className="row">
                  <strong>{revision.revision}</strong>
                  <Chip
                    status={processingLook[revision.processing_state]}
                    text={revision.processing_state}
                  />
                  <span className="dim">
                    {revision.created_by}, <Time at={revision.created_at} relative />
                  </span>
                </div>
              ))}
              <details>
                <summary>Inputs of the last request</summary>
                <JsonView value={requests.at(-1)?.inputs} label="inputs" />
              </details>
              <dl className="facts">
                <dt>Data</dt>
                <dd>
                  <code>{version.blob_path ?? version.table_name ?? "–"}</code>
                </dd>
                <dt>Content</dt>
                <dd>
                  <code>{version.content_hash ?? "–"}</code>
                </dd>
              </dl>
            </div>
          </Card>
        )}
      </Await>
    </>
  );
}
