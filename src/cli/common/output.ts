/** Everything that the command line prints goes through here, with or without colours. */
import { escapeUpperControls } from "../../adapters/runtime/control-characters.ts";
import type { JobStatus } from "../../core/model/job.ts";
import type { NodeStatus } from "../../core/model/node.ts";
import type { CliConfig } from "./config.ts";

/** `rmhdag … | head` closes the pipe early: the program then ends without a stack trace. */
export function quietOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit();
      throw error;
    });
  }
}

export function print(text: string): void {
  process.stdout.write(toLine(text));
}

/** Prints to stderr: a message to the user, and not for the next program in the pipe. */
export function say(text: string): void {
  process.stderr.write(toLine(text));
}

function toLine(text: string): string {
  const shown = escapeUpperControls(text);
  return shown.endsWith("\n") ? shown : `${shown}\n`;
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

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

/** Colours text for a terminal, and returns it unchanged elsewhere. */
export type Paint = (colour: Colour, text: string) => string;

export function createPaint(config: CliConfig, stream: { isTTY?: boolean }): Paint {
  if (stream.isTTY !== true || config.isPlain) return (_, text) => text;
  return (colour, text) => {
    const [on, off] = codes[colour];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

/** A glyph and a word always accompany the colour, for people and terminals without colours. */
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
