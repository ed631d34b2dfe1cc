import { systemClock } from "../../adapters/runtime/clock.ts";
import type { Client } from "../../core/api/client.ts";
import type { CliConfig } from "../common/config.ts";
import { createPaint, print, say } from "../common/output.ts";
import { treeOf } from "./arrange-nodes.ts";
import type { TreeRow } from "./arrange-nodes.ts";
import { describeChanges } from "./describe-node.ts";
import { drawTree } from "./draw-tree.ts";
import { followJob } from "./follow-job.ts";
import { applyMessage, viewOf } from "./job-view.ts";
import type { JobView } from "./job-view.ts";
import { reportEnd } from "./report-end.ts";

export interface WatchOptions {
  readonly client: Client;
  readonly config: CliConfig;
  readonly jobId: string;
  readonly json: boolean;
}

/** The conventional exit status of an interrupt: 128 and the number of SIGINT. */
const interrupted = 130;

/** Follows a job to its end. The exit status is 0 only if the job completed. */
export async function watchJob(options: WatchOptions): Promise<void> {
  const controller = new AbortController();
  // Never removed: under npx one Ctrl-C arrives twice, and the second must not end the process.
  process.on("SIGINT", () => {
    controller.abort();
  });
  const follow = options.json ? followAsJson : process.stdout.isTTY ? followLive : followInLines;
  await follow(options, controller.signal);
  if (controller.signal.aborted) {
    say(
      `The job goes on. Watch it again: rmhdag jobs watch ${options.jobId}\n` +
        `Stop it: rmhdag jobs cancel ${options.jobId}`,
    );
    process.exitCode = interrupted;
    return;
  }
  const job = await options.client.getJob({ params: { job_id: options.jobId } });
  if (options.json) print(JSON.stringify(job));
  else reportEnd(job);
  process.exitCode = job.status === "completed" ? 0 : 1;
}

type Follow = (options: WatchOptions, signal: AbortSignal) => Promise<void>;

/** Prints one event a line, from the first. */
const followAsJson: Follow = async ({ client, jobId }, signal) => {
  const onConnection = sayConnection;
  for await (const message of followJob({ client, jobId, signal, after: 0, onConnection })) {
    if (message.type === "events") {
      for (const event of message.events) print(JSON.stringify(event));
    }
  }
};

const followInLines: Follow = async ({ client, jobId }, signal) => {
  let view: JobView | undefined;
  for await (const message of followJob({ client, jobId, signal, onConnection: sayConnection })) {
    const before: JobView | undefined = view;
    view = applyMessage(before, message);
    for (const line of describeChanges(before, view, systemClock.now())) print(line);
  }
};

/** Durations change without a message, so the tree is drawn again at this interval. */
const frameMs = 100;

const followLive: Follow = async ({ client, config, jobId }, signal) => {
  const paint = createPaint(config, process.stdout);
  let view: JobView | undefined;
  let rows: TreeRow[] = [];
  let note: string[] = [];
  const screen = openLiveScreen(process.stdout);
  const draw = (isWhole: boolean): void => {
    if (view === undefined) return;
    const { columns, rows: height } = process.stdout;
    const now = systemClock.now();
    const limit = isWhole ? {} : { height: Math.max(3, height - 1 - note.length) };
    screen.draw([...drawTree(view, rows, { paint, now, columns, ...limit }), ...note]);
  };
  const timer = setInterval(draw, frameMs, false);
  try {
    const onConnection = (isThere: boolean) => {
      note = isThere ? [] : [paint("yellow", "… connection lost, trying again")];
    };
    for await (const message of followJob({ client, jobId, signal, onConnection })) {
      view = applyMessage(view, message);
      if (rows.length === 0) rows = await treeOf(client, view.job);
    }
    // No message has the final times. The last frame may scroll, so the whole tree is drawn.
    if (!signal.aborted) view = viewOf(await client.getJob({ params: { job_id: jobId } }));
    draw(!signal.aborted);
  } finally {
    clearInterval(timer);
    screen.close();
  }
};

function sayConnection(isThere: boolean): void {
  say(isThere ? "connected again" : "connection lost, trying again …");
}

/**
 * Redraws a block of lines in place. A frame is one write, and overwrites the last one without
 * clearing it first, so that nothing flickers.
 */
export interface LiveScreen {
  draw(lines: readonly string[]): void;
  /** Shows the cursor again, behind the last frame. */
  close(): void;
}

interface Terminal {
  write(text: string): unknown;
}

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearToEndOfLine = "\u001b[K";
const clearBelow = "\u001b[J";

export function openLiveScreen(terminal: Terminal): LiveScreen {
  let height = 0;
  let last = "";
  terminal.write(hideCursor);
  return {
    draw(lines) {
      const text = lines.map((line) => `${line}${clearToEndOfLine}\n`).join("");
      if (text === last) return;
      last = text;
      const up = height === 0 ? "" : `\u001b[${height}A`;
      terminal.write(`${up}\r${text}${clearBelow}`);
      height = lines.length;
    },
    close() {
      terminal.write(showCursor);
    },
  };
}
