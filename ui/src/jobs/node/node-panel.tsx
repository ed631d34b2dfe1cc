import { Suspense, lazy, useState } from "react";
import type { CurrentTask, Job } from "../../../../src/core/api/job-schemas.ts";
import type { JsonObject } from "../../../../src/core/model/json.ts";
import { isJsonObject } from "../../../../src/core/model/json.ts";
import { isFinished } from "../../../../src/core/model/job.ts";
import { isSettled } from "../../../../src/core/model/node.ts";
import { api } from "../../shared/api.ts";
import { commands } from "../../shared/commands.ts";
import { between, duration } from "../../shared/format.ts";
import { useQuery } from "../../shared/query-client.ts";
import { Action } from "../../shared/action.tsx";
import { Chip } from "../../shared/chip.tsx";
import { CopyId, curl } from "../../shared/copy.tsx";
import { Icon } from "../../shared/icon.tsx";
import { JsonView } from "../../shared/json-view.tsx";
import { Await, Loading } from "../../shared/states.tsx";
import { TabPanel, Tabs } from "../../shared/tabs.tsx";
import { Elapsed, Time } from "../../shared/time.tsx";
import { navigate } from "../../shared/navigation.tsx";
import { Children } from "./children.tsx";
import { Logs } from "./logs.tsx";
import { waitText } from "./wait-text.ts";

const ExpressionTester = lazy(() => import("./expression-tester.tsx"));

type NodeDetail = Awaited<ReturnType<typeof api.getNode>>;

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
  task,
  onChoose,
  onClose,
}: {
  job: Job;
  nodeId: string;
  definition: JsonObject | undefined;
  task: CurrentTask | undefined;
  onChoose: (nodeId: string) => void;
  onClose: () => void;
}) {
  const [section, setSection] = useState<Section>("about");
  const live = job.nodes.find(({ node_id }) => node_id === nodeId);
  const stamp = live === undefined ? job.status : `${live.status} ${live.attempt}`;
  const running = !isFinished(job.status);
  const loaded = useQuery(
    `node ${job.job_id} ${nodeId} ${stamp}`,
    (signal) => api.getNode({ params: { job_id: job.job_id, node_id: nodeId }, signal }),
    { everyMs: running && live === undefined ? 2000 : undefined },
  );
  return (
    <aside className="card panel" aria-label={`Node ${nodeId}`}>
      <div className="panel-head">
        <h2 className="row">
          <CopyId id={nodeId} what="Node id" />
          {loaded.data === undefined ? null : <Chip status={live?.status ?? loaded.data.status} />}
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
          <Await loaded={loaded} what="the node">
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
              return <About job={job} node={node} task={task} onChoose={onChoose} />;
            }}
          </Await>
        </div>
      </TabPanel>
    </aside>
  );
}

function About({
  job,
  node,
  task,
  onChoose,
}: {
  job: Job;
  node: NodeDetail;
  task: CurrentTask | undefined;
  onChoose: (nodeId: string) => void;
}) {
  const progress = task?.progress_percent ?? node.progress?.percent;
  const message = task?.progress_message ?? node.progress?.message;
  return (
    <>
      {node.wait_reason === null ? null : (
        <p className="wait-reason">
          <Icon name="clock" /> {waitText(node.wait_reason)}
        </p>
      )}
      {node.error === null ? null : (
        <div className="failure">
          <Icon name="cross" />
          <div>
            <code>{node.error.code}</code> <span className="dim">{node.error.category}</span>
            <p>{node.error.message}</p>
          </div>
        </div>
      )}
      {progress === undefined || node.status !== "running" ? null : (
        <p>
          <span className="progress">
            <span style={{ width: `${progress}%` }} />
          </span>{" "}
          {Math.round(progress)} % {message}
        </p>
      )}
      <dl className="facts">
        <dt>Kind</dt>
        <dd>{node.node_type.replace("_", " ")}</dd>
        {node.handler === null ? null : (
          <>
            <dt>Handler</dt>
            <dd>
              <code>{node.handler}</code> on <code>{node.queue}</code>
            </dd>
          </>
        )}
        {node.worker_id === null ? null : (
          <>
            <dt>Worker</dt>
            <dd>
              <code>{node.worker_id}</code>
            </dd>
          </>
        )}
        <dt>Queued</dt>
        <dd>
          <Time at={node.dispatched_at} />
          {node.dispatched_at === null || node.started_at === null
            ? null
            : `, waited ${duration(between(node.dispatched_at, node.started_at))}`}
        </dd>
        <dt>Started</dt>
        <dd>
          <Time at={node.started_at} />
        </dd>
        <dt>Took</dt>
        <dd>
          <Elapsed from={node.started_at} to={node.completed_at} />
          {node.timeout_seconds === null ? null : (
            <span className="dim"> of {duration(node.timeout_seconds * 1000)} allowed</span>
          )}
        </dd>
        {node.max_retries === 0 ? null : (
          <>
            <dt>Retries</dt>
            <dd>
              {node.retry_count} of {node.max_retries}
            </dd>
          </>
        )}
      </dl>
      {node.attempts.length === 0 ? null : (
        <div className="stack">
          <h3>Attempts</h3>
          {node.attempts.map((attempt, at) => (
            <div
              key={attempt.task_id}
              className="attempt"
              data-tone={attempt.status === "completed" ? "good" : "bad"}
            >
              <span className="row">
                <strong>{at + 1}</strong> <Chip status={attempt.status} />
                <Elapsed from={attempt.started_at} to={attempt.reported_at} />
                <span className="dim">
                  <Time at={attempt.started_at} />
                </span>
              </span>
              {attempt.error === null ? null : <span>{attempt.error.message}</span>}
              {attempt.worker_id === null ? null : <code className="dim">{attempt.worker_id}</code>}
            </div>
          ))}
        </div>
      )}
      {node.checkpoints.length === 0 ? null : (
        <details>
          <summary>Checkpoints ({node.checkpoints.length})</summary>
          <JsonView value={node.checkpoints} label="checkpoints" />
        </details>
      )}
      {node.children === null ? null : (
        <Children
          jobId={job.job_id}
          parent={node.node_id}
          counts={node.children}
          onChoose={onChoose}
        />
      )}
      <NodeActions job={job} node={node} />
    </>
  );
}

function NodeActions({ job, node }: { job: Job; node: NodeDetail }) {
  if (!isFinished(job.status) || node.parent_node_id !== null) return null;
  const { job_id } = job;
  const body = { from_node: node.node_id };
  return (
    <div>
      <Action
        icon="retry"
        label="Rerun from here"
        title={`Run again from ${node.node_id}?`}
        copy={() => ({
          command: commands.rerunJob(job_id, node.node_id),
          request: curl("POST", `/api/v1/jobs/${encodeURIComponent(job_id)}/rerun`, body),
        })}
        run={async () => {
          const again = await api.rerunJob({ params: { job_id }, body });
          navigate(`/jobs/${encodeURIComponent(again.job_id)}`);
          return `A new job runs again from ${node.node_id}`;
        }}
      >
        <p>
          A new job keeps what came before this node, and runs it and everything behind it again.
        </p>
      </Action>
    </div>
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

/** Of a child: those of its fan-out's task. */
function writtenParams(definition: JsonObject | undefined, node: NodeDetail): unknown {
  const nodes = definition?.["nodes"];
  if (!isJsonObject(nodes)) return undefined;
  const own = nodes[node.parent_node_id ?? node.node_id];
  if (!isJsonObject(own)) return undefined;
  const task = own["task"];
  if (node.parent_node_id !== null && isJsonObject(task)) return task["params"];
  return own["params"] ?? own;
}
