import { useState } from "react";
import { api } from "../shared/api.ts";
import type { DiffLine } from "./diff-lines.ts";
import { diffLines } from "./diff-lines.ts";
import { local } from "../shared/format.ts";
import { useQuery } from "../shared/query-client.ts";
import { Await } from "../shared/states.tsx";

type Workflow = Awaited<ReturnType<typeof api.getWorkflow>>;

/** The text of a version, and what another one changed in it. */
export function Definition({ workflow, from }: { workflow: Workflow; from: string | undefined }) {
  const [shown, setShown] = useState(workflow.workflow_hash);
  const [against, setAgainst] = useState(from ?? "");
  const id = workflow.workflow_id;
  const text = useText(id, shown);
  const old = useText(id, against);
  return (
    <div className="card-body stack">
      <div className="row">
        <VersionChoice label="Version" workflow={workflow} value={shown} onChange={setShown} />
        <VersionChoice
          label="Compared with"
          workflow={workflow}
          value={against}
          onChange={setAgainst}
          none
        />
        <code className="dim">{shown.slice(0, 12)}</code>
      </div>
      <Await loaded={text} what="the definition">
        {(current) => (
          <Source
            lines={
              against === "" || old.data === undefined
                ? current.split("\n").map((line) => ({ text: line }))
                : diffLines(old.data, current)
            }
          />
        )}
      </Await>
    </div>
  );
}

function useText(workflowId: string, hash: string) {
  return useQuery(`text ${workflowId} ${hash}`, async (signal) => {
    if (hash === "") return "";
    const version = await api.getWorkflowVersion({
      params: { workflow_id: workflowId, workflow_hash: hash },
      signal,
    });
    return version.source ?? JSON.stringify(version.definition, null, 2);
  });
}

function VersionChoice({
  label,
  workflow,
  value,
  onChange,
  none = false,
}: {
  label: string;
  workflow: Workflow;
  value: string;
  onChange: (hash: string) => void;
  none?: boolean;
}) {
  return (
    <label className="row">
      {label}
      <select
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      >
        {none ? <option value="">nothing</option> : null}
        {workflow.versions.map((version) => (
          <option key={version.workflow_hash} value={version.workflow_hash}>
            {version.version} · {local(version.created_at)}
            {version.is_current ? " · current" : ""}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Source({
  lines,
  marked,
}: {
  lines: readonly DiffLine[];
  marked?: ReadonlySet<number>;
}) {
  return (
    <div className="source" tabIndex={0} role="region" aria-label="Definition">
      <ol>
        {lines.map((line, at) => (
          <li
            key={at}
            data-change={line.change}
            data-marked={marked?.has(at + 1) === true ? "" : undefined}
          >
            {line.text === "" ? " " : line.text}
          </li>
        ))}
      </ol>
    </div>
  );
}
