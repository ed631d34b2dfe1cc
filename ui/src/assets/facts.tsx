import { api } from "../shared/api.ts";
import { useQuery } from "../shared/query-client.ts";
import { JsonView } from "../shared/json-view.tsx";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import type { OfVersion } from "./decide.tsx";
import { Findings } from "./findings.tsx";
import { Revisions } from "./revisions.tsx";

/** What is known of a version: how it was made, what was found, each revision. */
export function Facts(props: OfVersion) {
  const { version } = props;
  const { asset_id, version_ordinal } = version;
  const detail = useQuery(
    `version detail ${asset_id} ${version_ordinal} ${version.revision} ${version.processing_state}`,
    (signal) => api.getAssetVersion({ params: { asset_id, version_ordinal }, signal }),
  );
  return (
    <Await loaded={detail} what="the version">
      {({ revisions, requests }) => {
        const last = requests.find(({ request_id }) => request_id === version.request_id);
        return (
          <>
            <Findings version={version} result={last?.result ?? null} />
            <Card title="Revisions">
              <div className="stack">
                <Revisions {...props} revisions={revisions} />
                <details>
                  <summary>Inputs of the last request</summary>
                  <JsonView value={last?.inputs} label="inputs" />
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
          </>
        );
      }}
    </Await>
  );
}
