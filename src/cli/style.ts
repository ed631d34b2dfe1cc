import type { JobStatus } from "../core/model/job.ts";
import type { NodeStatus } from "../core/model/node.ts";
import type { CliConfig } from "./config.ts";

type Colour = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "dim" | "bold";

const codes: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
};

/** Paints for a terminal, and leaves text alone everywhere else. */
export type Paint = (colour: Colour, text: string) => string;

export function createPaint(config: CliConfig, stream: { isTTY?: boolean }): Paint {
  if (stream.isTTY !== true || config.isPlain) return (_, text) => text;
  return (colour, text) => {
    const [on, off] = codes[colour];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

/** Colour is never alone: a glyph and a word say the same. */
const looks: Readonly<Record<NodeStatus, { glyph: string; colour: Colour }>> = {
  pending: { glyph: "○", colour: "dim" },
  ready: { glyph: "◔", colour: "cyan" },
  dispatched: { glyph: "◑", colour: "cyan" },
  running: { glyph: "▶", colour: "blue" },
  completed: { glyph: "✓", colour: "green" },
  failed: { glyph: "✗", colour: "red" },
  skipped: { glyph: "↷", colour: "dim" },
  cancelled: { glyph: "■", colour: "yellow" },
};

export function glyph(status: NodeStatus | JobStatus): string {
  return looks[status].glyph;
}

export function colourOf(status: NodeStatus | JobStatus): Colour {
  return looks[status].colour;
}
