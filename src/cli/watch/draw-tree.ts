import type { NodeStatus } from "../../core/model/node.ts";
import { isSettled } from "../../core/model/node.ts";
import { colourOf, glyph } from "../common/output.ts";
import type { Paint } from "../common/output.ts";
import { between, plural } from "../common/format.ts";
import type { TreeRow } from "./arrange-nodes.ts";
import { describeNode } from "./describe-node.ts";
import type { JobView } from "./job-view.ts";

export interface DrawOptions {
  readonly paint: Paint;
  readonly now: Date;
  readonly columns: number;
  /** The most lines to draw; undefined: the whole tree. */
  readonly height?: number;
}

interface Line {
  readonly status: NodeStatus;
  readonly text: string;
}

/**
 * Draws the job, then its nodes. A tree that is too long keeps the active nodes and folds the rest.
 */
export function drawTree(view: JobView, rows: readonly TreeRow[], options: DrawOptions): string[] {
  const width = Math.max(0, ...rows.map(({ nodeId, lead }) => nodeId.length + lead.length));
  const lines = rows.flatMap((row) => drawRow(view, row, Math.min(width, 40), options));
  const room = options.height === undefined ? Infinity : Math.max(1, options.height - 1);
  return [drawJob(view, options), ...fold(lines, room)];
}

function drawJob({ job, status, paused }: JobView, { paint, now, columns }: DrawOptions): string {
  const took = between(job.started_at ?? job.created_at, job.completed_at, now);
  const state = paused && status !== "cancelled" ? `${status}, paused` : status;
  const name = cut(`${job.workflow_id}  ${job.job_id}`, columns - state.length - 20);
  const head = `${paint(colourOf(status), `${glyph(status)} ${state}`)}  ${paint("bold", name)}`;
  return took === null ? head : `${head}  ${paint("dim", took)}`;
}

function drawRow(view: JobView, row: TreeRow, width: number, options: DrawOptions): Line[] {
  const node = view.nodes.get(row.nodeId);
  if (node === undefined) return [];
  const { paint, now, columns } = options;
  const took = between(node.started_at ?? node.dispatched_at, node.completed_at, now);
  const name = cut(row.lead + row.nodeId, width).padEnd(width);
  // Only nodes that run tasks have a duration worth showing; others settle within a tick.
  const isTimed = node.node_type === "task" || node.node_type === "fan_out";
  const time = took === null || !isTimed ? "" : took;
  const front = `${name}  ${glyph(node.status)} ${node.status.padEnd(10)} ${time.padEnd(11)}`;
  const detail = cut(describeNode(node, now), Math.max(10, columns - front.length - 2));
  const painted =
    `${name}  ${paint(colourOf(node.status), `${glyph(node.status)} ${node.status.padEnd(10)}`)} ` +
    `${paint("dim", time.padEnd(11))} ${detail}`;
  return [{ status: node.status, text: cutPlain(painted, front, columns) }];
}

/**
 * On a terminal narrower than the front columns, draws only those, without colour, and cuts them.
 */
function cutPlain(painted: string, front: string, columns: number): string {
  return front.length + 1 > columns ? cut(front, columns) : painted.trimEnd();
}

export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  return `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Nodes of the lowest weight are kept first when a tree is folded. */
function weight(status: NodeStatus): number {
  if (status === "failed") return 0;
  if (status === "running") return 1;
  if (!isSettled(status) && status !== "pending") return 2;
  return status === "pending" ? 3 : 4;
}

/**
 * Keeps the lines of the lowest weights in their order; each stretch between them becomes one line.
 */
function fold(lines: readonly Line[], room: number): string[] {
  if (lines.length <= room) return lines.map(({ text }) => text);
  const ranked = lines
    .map(({ status }, index) => ({ index, weight: weight(status) }))
    .toSorted((a, b) => a.weight - b.weight || a.index - b.index);
  // Each kept line may split a stretch in two: keep fewer until all lines fit.
  for (let kept = room - 1; kept > 0; kept--) {
    const drawn = foldTo(lines, new Set(ranked.slice(0, kept).map(({ index }) => index)));
    if (drawn.length <= room) return drawn;
  }
  return foldTo(lines, new Set()).slice(0, room);
}

function foldTo(lines: readonly Line[], kept: ReadonlySet<number>): string[] {
  const drawn: string[] = [];
  let counts = new Map<NodeStatus, number>();
  const close = (): void => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const each = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
    if (total > 0) drawn.push(`  ⋮ ${plural(total, "node")}: ${each}`);
    counts = new Map();
  };
  for (const [index, { status, text }] of lines.entries()) {
    if (kept.has(index)) {
      close();
      drawn.push(text);
    } else counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  close();
  return drawn;
}
