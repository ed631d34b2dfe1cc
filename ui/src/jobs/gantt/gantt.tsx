import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Job, NodeSummary } from "../../../../src/core/api/job-schemas.ts";
import { isFinished } from "../../../../src/core/model/job.ts";
import { api } from "../../shared/api.ts";
import { useNow } from "../../shared/clock.ts";
import { Icon } from "../../shared/icon.tsx";
import { statusLook } from "../../shared/status.tsx";
import { duration } from "../../shared/time.tsx";
import { attemptsOf } from "../../../../src/core/model/attempts.ts";
import { GanttAxis } from "./gantt-axis.tsx";
import type { Segment } from "./gantt-segments.ts";
import { criticalPath, readyTimes, segmentsOf, segmentsOfAttempts } from "./gantt-segments.ts";

export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The attempts of each retried node take two requests; more nodes would make the page wait. */
const maxRetried = 40;
const maxChildren = 200;

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
  const ready = useMemo(() => readyTimes(job.nodes, edges), [job.nodes, edges]);
  const retried = useAttempts(job);
  const children = useQuery({
    queryKey: ["job", job.job_id, "nodes", open, "first-children"],
    queryFn: ({ signal }) =>
      api.listJobNodes({
        params: { job_id: job.job_id },
        query: { parent: open, limit: maxChildren },
        signal,
      }),
    enabled: open !== undefined,
    refetchInterval: finished ? false : 3000,
  });

  function scale(factor: number): void {
    const middle = (range.from + range.to) / 2;
    const half = ((range.to - range.from) * factor) / 2;
    setZoom({ from: middle - half, to: middle + half });
  }

  function row(node: NodeSummary, child: boolean) {
    const extra = retried.data?.get(node.node_id);
    const segments =
      extra === undefined
        ? segmentsOf(node, end, ready.get(node.node_id))
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
          {open === node.node_id
            ? (children.data?.items ?? []).map((child) => row(child, true))
            : null}
          {open === node.node_id && (node.children?.total ?? 0) > maxChildren ? (
            <p className="dim gantt-tools">
              The first {maxChildren} of {node.children?.total} children. The panel of the node
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
  return (
    <span
      className={`gantt-bar ${segment.kind}${critical ? " critical" : ""}`}
      data-tone={statusLook[segment.status].tone}
      style={{ left: `${left}%`, width: `${Math.max(size, 0)}%` }}
      title={`${segment.title}: ${duration(segment.to - segment.from)}`}
    />
  );
}

/** The attempts of nodes that have more than one. Another attempt or status changes the key. */
function useAttempts(job: Job) {
  const nodes = job.nodes.filter((node) => attemptsOf(node) > 1).slice(0, maxRetried);
  return useQuery({
    queryKey: [
      "job",
      job.job_id,
      "attempts",
      nodes.map(({ node_id, attempt, status }) => [node_id, attempt, status]),
    ],
    queryFn: async ({ signal }) => {
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
    },
    placeholderData: keepPreviousData,
  });
}
