import type { NodeSummary } from "../../core/api/job-schemas.ts";
import type { WaitReason } from "../../core/dag/evaluate/wait-reason.ts";
import { between, duration, grouped, stripControlCharacters } from "../common/format.ts";
import { glyph } from "../common/output.ts";
import type { JobView } from "./job-view.ts";

const barWidth = 12;

export function bar(part: number): string {
  const full = Math.round(Math.min(1, Math.max(0, part)) * barWidth);
  return `▕${"█".repeat(full)}${"░".repeat(barWidth - full)}▏`;
}

/** The details behind a node's name and state: progress, why it waits, retries, its error. */
export function describeNode(node: NodeSummary, now: Date): string {
  const parts = [
    fanOut(node),
    node.status === "running" && node.children === null ? progress(node) : "",
    node.wait_reason === null ? "" : waiting(node.wait_reason, now),
    node.retry_count > 0 ? `${ordinal(node.retry_count)} retry` : "",
    node.error === null ? "" : `${node.error.code}: ${stripControlCharacters(node.error.message)}`,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

export function waiting(reason: WaitReason, now: Date): string {
  switch (reason.kind) {
    case "dependency":
      return `waits for ${some(reason.nodes)}`;
    case "retry":
      return `tries again in ${duration(Date.parse(reason.at) - now.getTime())}`;
    case "concurrency":
      return `waits: at most ${grouped(reason.limit)} of ${reason.fan_out} run at once`;
    case "children":
      // The fan-out's progress bar shows it.
      return "";
    case "paused":
      return "the job is paused";
    case "no_worker":
      return `no living worker offers ${reason.handler} on queue ${reason.queue}`;
    case "queued":
      return `waits in ${reason.queue}`;
    case "next_tick":
      return "";
  }
}

function fanOut({ children, status }: NodeSummary): string {
  if (children === null) return "";
  const { total, completed, failed, skipped, cancelled, running, dispatched } = children;
  const settled = completed + failed + skipped + cancelled;
  const isOver = status === "completed" || total === 0;
  const parts = [`${bar(isOver ? 1 : settled / total)} ${grouped(settled)}/${grouped(total)}`];
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (cancelled > 0) parts.push(`${grouped(cancelled)} cancelled`);
  if (running > 0) parts.push(`${grouped(running)} running`);
  else if (dispatched > 0) parts.push(`${grouped(dispatched)} queued`);
  return parts.join(" · ");
}

function progress({ progress: reported }: NodeSummary): string {
  if (reported === null) return "";
  const { percent, message } = reported;
  const text = message === null ? "" : ` ${stripControlCharacters(message)}`;
  return `${bar(percent / 100)} ${Math.round(percent)}%${text}`;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(", ");
  return names.length > 3 ? `${shown} and ${grouped(names.length - 3)} more` : shown;
}

function ordinal(count: number): string {
  const endings = ["th", "st", "nd", "rd"];
  const teen = count % 100 >= 11 && count % 100 <= 13;
  return `${count}${(teen ? undefined : endings[count % 10]) ?? "th"}`;
}

/** Lines for logs and pipes: one for each node that has changed, and one if the job has. */
export function describeChanges(before: JobView | undefined, after: JobView, now: Date): string[] {
  const lines: string[] = [];
  for (const [id, node] of after.nodes) {
    if (node.node_type === "start" || node.node_type === "end") continue;
    const earlier = before?.nodes.get(id);
    if (earlier === undefined ? node.status === "pending" : mark(earlier) === mark(node)) continue;
    const took = between(node.started_at ?? node.dispatched_at, node.completed_at, now);
    const detail = describeNode(node, now);
    const time = node.completed_at === null || took === null ? "" : `  ${took}`;
    lines.push(
      `${glyph(node.status)} ${id}  ${node.status}${time}${detail === "" ? "" : `  ${detail}`}`,
    );
  }
  if (before?.status !== after.status || before.paused !== after.paused) {
    const state = after.paused ? `${after.status}, paused` : after.status;
    lines.push(`${glyph(after.status)} job ${after.job.job_id}  ${state}`);
  }
  return lines;
}

/** A node is printed again when its mark changes. Progress and fan-outs count in tenths. */
function mark({ status, attempt, children, progress }: NodeSummary): string {
  const settled =
    children === null || children.total === 0
      ? 0
      : (children.completed + children.failed + children.cancelled) / children.total;
  const reported = status === "running" ? (progress?.percent ?? 0) / 100 : 0;
  return `${status} ${attempt} ${Math.floor(settled * 10)} ${Math.floor(reported * 10)}`;
}
