import { useState } from "react";
import type { AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { readObject } from "../shared/read-object.ts";
import { useQuery } from "../shared/query-client.ts";
import { Action } from "../shared/action.tsx";
import { curl } from "../shared/copy.tsx";
import { Await } from "../shared/states.tsx";
import type { OfVersion } from "./decide.tsx";
import { addressOf } from "./decide.tsx";

/** An unresolved version is handed in again, with other inputs if the first were the mistake. */
export function Resubmit({ version, done }: OfVersion) {
  const [text, setText] = useState<string>();
  const inputs = text === undefined ? undefined : readObject(text);
  const body = inputs === undefined ? {} : { inputs };
  return (
    <Action
      icon="copy"
      label="Resubmit"
      title={`Hand in ${version.version_label} again?`}
      incomplete={text !== undefined && inputs === undefined}
      copy={() => ({
        command: commands.resubmitVersion(version, inputs ?? {}),
        request: curl("POST", `${addressOf(version)}/resubmit`, body),
      })}
      run={async () => {
        await api.resubmitVersion({ params: version, body });
        setText(undefined);
        done();
        return "It is handed in again, and waits for a review when it is done";
      }}
    >
      <p>It makes one more revision, and whatever was decided about the version is open again.</p>
      <LastInputs version={version} text={text} onChange={setText} />
    </Action>
  );
}

function LastInputs({
  version,
  text,
  onChange,
}: {
  version: AssetVersion;
  text: string | undefined;
  onChange: (text: string) => void;
}) {
  const { asset_id, version_ordinal, revision } = version;
  const loaded = useQuery(`inputs ${asset_id} ${version_ordinal} ${revision}`, async (signal) => {
    const detail = await api.getAssetVersion({ params: { asset_id, version_ordinal }, signal });
    const last = detail.requests.find(({ request_id }) => request_id === detail.request_id);
    return JSON.stringify(last?.inputs ?? {}, null, 2);
  });
  return (
    <Await loaded={loaded} what="the inputs">
      {(last) => (
        <label className="field">
          Inputs
          <textarea
            rows={8}
            spellCheck={false}
            value={text ?? last}
            aria-invalid={readObject(text ?? last) === undefined}
            onChange={(event) => {
              onChange(event.target.value);
            }}
          />
        </label>
      )}
    </Await>
  );
}
