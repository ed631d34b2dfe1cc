import { useMemo, useState } from "react";
import type { Job, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import { isFinished } from "../../../../src/core/model/job.ts";
import { api } from "../../shared/api.ts";
import { statusLook } from "../../shared/status.ts";
import { useNow } from "../../shared/use-now.ts";
import { useQuery } from "../../shared/query-client.ts";
import { duration } from "../../shared/format.ts";
import { Icon } from "../../shared/icon.tsx";
import { criticalPath } from "./critical-path.ts";
import { GanttAxis } from "./gantt-axis.tsx";
import type { Segment } from "./gantt-segments.ts";
import { segmentsOf, segmentsOfAttempts } from "./gantt-segments.ts";

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Nodes whose attempts are read one by one; more would be more requests than anybody waits for. */
const mostRetried = 40;
const mostChildren = 200;

export function Gantt({
  job,
  edges = [],
  chosen,
  onChoose,
}: {
  job: Job;
  edges?: readonly { readonly from: string; readonly to: string }[] | undefined;
  chosen: string | undefined;
  onChoose: (nodeId: string) => void;
}) {
  const finished = isFinished(job.status);
  const now = useNow(1000, !finished);
  const [zoom, setZoom] = useState<Range>();
  const [open, setOpen] = useState<string>();
  const end = job.completed_at === null ? now : Date.parse(job.completed_at);
  const whole = {
    from: Date.parse(job.created_at),
    to: Math.max(end, Date.parse(job.created_at) + 10),
  };
  const range = zoom ?? whole;
  const critical = useMemo(() => criticalPath(job.nodes, edges), [job.nodes, edges]);
  const retried = useAttempts(job);
  const children = useQuery(
    `gantt children ${job.job_id} ${open ?? ""}`,
    async (signal) =>
      open === undefined
        ? []
        : (
            await api.listJobNodes({
              params: { job_id: job.job_id },
              query: { parent: open, limit: mostChildren },
              signal,
            })
          ).items,
    { everyMs: finished || open === undefined ? undefined : 3000 },
  );

  function scale(factor: number): void {
    const middle = (range.from + range.to) / 2;
    const half = ((range.to - range.from) * factor) / 2;
    setZoom({ from: middle - half, to: middle + half });
  }

  function row(node: NodeSummary, child: boolean) {
    const extra = retried.data?.get(node.node_id);
    const segments =
      extra === undefined
        ? segmentsOf(node, end)
        : segmentsOfAttempts(node, extra.attempts, extra.events, end);
    return (
      <div
        key={node.node_id}
        className={child ? "gantt-row child" : "gantt-row"}
        data-selected={chosen === node.node_id ? "" : undefined}
      >
        <button
          className="gantt-name"
          data-tone={statusLook[node.status].tone}
          onClick={() => {
            onChoose(node.node_id);
            if (node.children !== null) setOpen(open === node.node_id ? undefined : node.node_id);
          }}
        >
          <Icon name={statusLook[node.status].icon} label={node.status} />
          <span className="ellipsis">{child ? `#${node.fan_out_index ?? ""}` : node.node_id}</span>
          {node.children === null ? null : <Icon name={open === node.node_id ? "down" : "right"} />}
        </button>
        <div className="gantt-track">
          {segments.map((segment, at) => (
            <Bar
              key={at}
              segment={segment}
              range={range}
              critical={critical.has(node.node_id) && segment.kind === "run"}
            />
          ))}
        </div>
      </div>
    );
  }

  return (
    <div className="gantt">
      <div className="gantt-tools">
        <span className="legend hatched">in the queue</span>
        <span className="legend" data-tone="busy">
          running
        </span>
        <span className="legend retry">waits to retry</span>
        <span className="legend critical">critical path</span>
        <span className="row">
          <button
            className="button quiet"
            aria-label="Zoom in"
            onClick={() => {
              scale(0.5);
            }}
          >
            <Icon name="plus" />
          </button>
          <button
            className="button quiet"
            aria-label="Zoom out"
            onClick={() => {
              scale(2);
            }}
          >
            <Icon name="minus" />
          </button>
          <button
            className="button quiet"
            onClick={() => {
              setZoom(undefined);
            }}
          >
            <Icon name="fit" /> {duration(range.to - range.from)}
          </button>
        </span>
      </div>
      <GanttAxis range={range} origin={whole.from} onZoom={setZoom} />
      {job.nodes.map((node) => (
        <div key={node.node_id}>
          {row(node, false)}
          {open === node.node_id ? (children.data ?? []).map((child) => row(child, true)) : null}
          {open === node.node_id && (node.children?.total ?? 0) > mostChildren ? (
            <p className="dim gantt-tools">
              The first {mostChildren} of {node.children?.total} children. The panel of the node
              lists all of them by state.
            </p>
          ) : null}
        </div>
      ))}
    </div>
  );
}

function Bar({ segment, range, critical }: { segment: Segment; range: Range; critical: boolean }) {
  const width = range.to - range.from;
  const left = ((segment.from - range.from) / width) * 100;
  const size = ((segment.to - segment.from) / width) * 100;
  if (left > 100 || left + size < 0) return null;
  const kind = segment.kind === "run" ? "run" : segment.kind;
  return (
    <span
      className={`gantt-bar ${kind}${critical ? " critical" : ""}`}
      data-tone={statusLook[segment.status].tone}
      style={{ left: `${left}%`, width: `${Math.max(size, 0)}%` }}
      title={`${segment.title}: ${duration(segment.to - segment.from)}`}
    />
  );
}

/** The earlier attempts of nodes that were tried more than once. */
function useAttempts(job: Job) {
  const nodes = job.nodes.filter(({ attempt }) => attempt > 1).slice(0, mostRetried);
  const key = nodes.map(({ node_id, attempt }) => `${node_id}${attempt}`).join(" ");
  return useQuery(`attempts ${job.job_id} ${key}`, async (signal) => {
    const found = await Promise.all(
      nodes.map(async ({ node_id }) => {
        const [{ attempts }, { items }] = await Promise.all([
          api.getNode({ params: { job_id: job.job_id, node_id }, signal }),
          api.listJobEvents({
            params: { job_id: job.job_id },
            query: { node_id, event_type: "node_dispatched", limit: 100 },
            signal,
          }),
        ]);
        return [node_id, { attempts, events: items }] as const;
      }),
    );
    return new Map(found);
  });
}
