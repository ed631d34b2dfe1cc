import type { Histogram } from "../../../src/core/api/job-schemas.ts";
import type { NodeStatus } from "../../../src/core/model/node.ts";
import { number } from "./format.ts";
import { nodeOrder, statusLook } from "./status.ts";

/** How many of the whole are in which state, as one bar; the words stand in its description. */
export function StateBar({ counts }: { counts: Histogram }) {
  const parts = barParts(counts);
  const words = parts.map(([status, count]) => `${number(count)} ${status}`).join(", ");
  return (
    <span className="state-bar" role="img" aria-label={words} title={words}>
      {parts.map(([status, count]) => (
        <span key={status} data-tone={statusLook[status].tone} style={{ flexGrow: count }} />
      ))}
    </span>
  );
}

const barOrder = [
  ...(["completed", "skipped", "failed", "cancelled", "running"] as const),
  ...(["dispatched", "ready", "pending"] as const),
];

function barParts(counts: Histogram): [NodeStatus, number][] {
  return barOrder
    .map((status): [NodeStatus, number] => [status, counts[status]])
    .filter(([, count]) => count > 0);
}

export function countsInOrder(counts: Histogram): [NodeStatus, number][] {
  return nodeOrder
    .map((status): [NodeStatus, number] => [status, counts[status]])
    .filter(([, count]) => count > 0);
}
