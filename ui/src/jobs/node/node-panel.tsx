import { useQuery } from "@tanstack/react-query";
import { Suspense, lazy, useEffect, useRef, useState } from "react";
import type { CurrentTask, Job } from "../../../../src/core/api/job-schemas.ts";
import { isFinished } from "../../../../src/core/model/job.ts";
import type { JsonObject } from "../../../../src/core/model/json.ts";
import { isJsonObject } from "../../../../src/core/model/json.ts";
import { isSettled } from "../../../../src/core/model/node.ts";
import { api } from "../../shared/api.ts";
import { CopyId } from "../../shared/copy.tsx";
import { Icon } from "../../shared/icon.tsx";
import { JsonView } from "../../shared/json-view.tsx";
import { focusAgain } from "../../shared/navigation.ts";
import { Await, Loading } from "../../shared/states.tsx";
import { Chip } from "../../shared/status.tsx";
import { TabPanel, Tabs } from "../../shared/tabs.tsx";
import { readyTimes } from "../gantt/gantt-segments.ts";
import { Logs } from "./logs.tsx";
import type { NodeDetail } from "./node-about.tsx";
import { NodeAbout } from "./node-about.tsx";

const ExpressionTester = lazy(() => import("./expression-tester.tsx"));

const sections = ["about", "data", "logs", "try"] as const;
type Section = (typeof sections)[number];
const labels: Readonly<Record<Section, string>> = {
  about: "About",
  data: "Data",
  logs: "Logs",
  try: "Try",
};

export function NodePanel({
  job,
  nodeId,
  definition,
  edges = [],
  task,
  onChoose,
  onClose,
}: {
  job: Job;
  nodeId: string;
  definition: JsonObject | undefined;
  edges?: readonly { readonly from: string; readonly to: string }[] | undefined;
  task: CurrentTask | undefined;
  onChoose: (nodeId: string) => void;
  onClose: () => void;
}) {
  const [section, setSection] = useState<Section>("about");
  const before = useRef<Element>(null);
  // Closing the panel gives the focus back to the node that opened it.
  useEffect(() => {
    before.current = document.activeElement;
    return () => {
      focusAgain(before.current);
    };
  }, []);
  const live = job.nodes.find(({ node_id }) => node_id === nodeId);
  const detail = useQuery({
    queryKey: ["job", job.job_id, "nodes", nodeId],
    queryFn: ({ signal }) =>
      api.getNode({ params: { job_id: job.job_id, node_id: nodeId }, signal }),
    // The stream invalidates static nodes when they change. It does not carry children of fan-outs.
    refetchInterval: live === undefined && !isFinished(job.status) ? 2000 : false,
  });
  return (
    <aside className="card panel" aria-label={`Node ${nodeId}`}>
      <div className="panel-head">
        <h2 className="row">
          <CopyId id={nodeId} what="Node id" />
          {detail.data === undefined ? null : <Chip status={live?.status ?? detail.data.status} />}
        </h2>
        <button className="button quiet" aria-label="Close the panel" title="Esc" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <Tabs
        label="About the node"
        panel="node-section"
        tabs={sections.map((id) => ({ id, label: labels[id] }))}
        selected={section}
        onSelect={setSection}
      />
      <TabPanel id="node-section" selected={section}>
        <div className="panel-body">
          <Await query={detail} what="the node">
            {(stored) => {
              const node = live === undefined ? stored : { ...stored, ...live };
              if (section === "data") return <Data node={node} definition={definition} />;
              if (section === "logs") {
                return (
                  <Logs jobId={job.job_id} nodeId={nodeId} running={!isSettled(node.status)} />
                );
              }
              if (section === "try") {
                return (
                  <Suspense fallback={<Loading what="the tester" />}>
                    <ExpressionTester job={job} node={node} />
                  </Suspense>
                );
              }
              return (
                <NodeAbout
                  job={job}
                  node={node}
                  task={task}
                  readyAt={readyTimes(job.nodes, edges).get(nodeId)}
                  onChoose={onChoose}
                />
              );
            }}
          </Await>
        </div>
      </TabPanel>
    </aside>
  );
}

function Data({ node, definition }: { node: NodeDetail; definition: JsonObject | undefined }) {
  return (
    <>
      <h3>Parameters as written</h3>
      <JsonView value={writtenParams(definition, node)} label="written parameters" />
      <h3>Parameters as rendered</h3>
      {node.params === null ? (
        <p className="dim">They are rendered when the node is queued.</p>
      ) : (
        <JsonView value={node.params} label="rendered parameters" />
      )}
      <h3>Output</h3>
      <JsonView value={node.output} label="output" />
    </>
  );
}

/** The parameters in the definition; a child has those of its fan-out's task. */
function writtenParams(definition: JsonObject | undefined, node: NodeDetail): unknown {
  const nodes = definition?.["nodes"];
  if (!isJsonObject(nodes)) return undefined;
  const own = nodes[node.parent_node_id ?? node.node_id];
  if (!isJsonObject(own)) return undefined;
  const task = own["task"];
  if (node.parent_node_id !== null && isJsonObject(task)) return task["params"];
  return own["params"] ?? own;
}
