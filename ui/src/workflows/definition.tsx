import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { api } from "../shared/api.ts";
import { workflowVersionQuery } from "../shared/queries.ts";
import { Await } from "../shared/states.tsx";
import { local } from "../shared/time.tsx";
import type { DiffLine } from "./diff-lines.ts";
import { diffLines } from "./diff-lines.ts";

type Workflow = Awaited<ReturnType<typeof api.getWorkflow>>;
type WorkflowVersion = Awaited<ReturnType<typeof api.getWorkflowVersion>>;

/** The source of a version, and its differences from another version. */
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
      <Await query={text} what="the definition">
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
  return useQuery({
    ...workflowVersionQuery(workflowId, hash),
    enabled: hash !== "",
    select: textOf,
  });
}

function textOf({ source, definition }: Pick<WorkflowVersion, "source" | "definition">): string {
  return source ?? JSON.stringify(definition, null, 2);
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

function Source({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <div className="source" tabIndex={0} role="region" aria-label="Definition">
      <ol>
        {lines.map((line, at) => (
          <li key={at} data-change={line.change}>
            {line.text === "" ? " " : line.text}
          </li>
        ))}
      </ol>
    </div>
  );
}
