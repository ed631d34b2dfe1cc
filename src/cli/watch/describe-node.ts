import type { NodeSummary } from "../../core/api/job-schemas.ts";
import type { WaitReason } from "../../core/dag/evaluate/wait-reason.ts";
import { grouped, harmless } from "../output.ts";
import { duration } from "../time.ts";

const barWidth = 12;

export function bar(part: number): string {
  const full = Math.round(Math.min(1, Math.max(0, part)) * barWidth);
  return `▕${"█".repeat(full)}${"░".repeat(barWidth - full)}▏`;
}

/** All that is to say behind a node's name and state; empty when there is nothing. */
export function describeNode(node: NodeSummary, now: Date): string {
  const parts = [
    fanOut(node),
    node.status === "running" && node.children === null ? progress(node) : "",
    node.wait_reason === null ? "" : waiting(node.wait_reason, now),
    node.retry_count > 0 ? `${ordinal(node.retry_count)} retry` : "",
    node.error === null ? "" : `${node.error.code}: ${harmless(node.error.message)}`,
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
      // The bar of the fan-out says it.
      return "";
    case "paused":
      return "the job is paused";
    case "no_worker":
      return `no worker serves ${reason.queue}`;
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

function progress({ progress: told }: NodeSummary): string {
  if (told === null) return "";
  const message = told.message === null ? "" : ` ${harmless(told.message)}`;
  return `${bar(told.percent / 100)} ${Math.round(told.percent)}%${message}`;
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
