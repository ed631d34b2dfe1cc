import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import { Action } from "../shared/action.tsx";
import { api } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { curl } from "../shared/copy.tsx";
import { readObject } from "../shared/json-view.tsx";
import { invalidate } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";
import type { OfVersion } from "./decide.tsx";
import { addressOf } from "./decide.tsx";

/** Resubmits an unresolved version, with the inputs of its last request or with changed ones. */
export function Resubmit({ version }: OfVersion) {
  const [text, setText] = useState<string>();
  const inputs = text === undefined ? undefined : readObject(text);
  const body = inputs === undefined ? {} : { inputs };
  return (
    <Action
      icon="copy"
      label="Resubmit"
      title={`Resubmit ${version.version_label}?`}
      incomplete={text !== undefined && inputs === undefined}
      copy={() => ({
        command: commands.resubmitVersion(version, inputs ?? {}),
        request: curl("POST", `${addressOf(version)}/resubmit`, body),
      })}
      run={async () => {
        await api.resubmitVersion({ params: version, body });
        setText(undefined);
        invalidate("asset", version.asset_id);
        return "The version is resubmitted; it waits for a review when its job has completed";
      }}
    >
      <p>This makes a new revision, and the version must be reviewed again.</p>
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
  const inputs = useQuery({
    queryKey: ["asset", asset_id, "inputs", version_ordinal, revision],
    queryFn: async ({ signal }) => {
      const detail = await api.getAssetVersion({ params: { asset_id, version_ordinal }, signal });
      const last = detail.requests.find(({ request_id }) => request_id === detail.request_id);
      return JSON.stringify(last?.inputs ?? {}, null, 2);
    },
  });
  return (
    <Await query={inputs} what="the inputs">
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
