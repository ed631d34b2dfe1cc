import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { waitFor } from "./wait.ts";

export interface Rival {
  /** Waits until it has printed this line. */
  said(line: string): Promise<void>;
  goOn(): void;
  signal(name: NodeJS.Signals): void;
  end(): Promise<void>;
}

/** wait: completes after `goOn`; block: keeps its process busy for 5 s; listen: until aborted. */
type Behaviour = "wait" | "block" | "listen";

const root = path.resolve(import.meta.dirname, "../..");

const consumer = (queue: string, behaviour: Behaviour) => `
  const say = (...words) => process.stdout.write(words.join(" ") + "\\n");
  const goneOn = new Promise((resolve) => process.stdin.once("data", resolve));
  await broker.consume(${JSON.stringify(queue)}, { maxInFlight: 1 }, async (delivery) => {
    say("took", delivery.id, delivery.deliveryCount);
    if (${JSON.stringify(behaviour)} === "listen") {
      await new Promise((resolve) => delivery.signal.addEventListener("abort", resolve));
      say("aborted", delivery.id, delivery.signal.reason.abortCause);
      return;
    }
    if (${JSON.stringify(behaviour)} === "wait") await goneOn;
    else {
      // The line above must be out first: a busy process prints nothing.
      await new Promise((resolve) => process.stdout.write("", resolve));
      const until = performance.now() + 5000;
      while (performance.now() < until);
    }
    say("completed", delivery.id, await delivery.complete());
  });
`;

/** A consumer in a process of its own, which can be frozen, kept busy or killed. */
export async function startRival(
  { rivalProgram }: { readonly rivalProgram: string },
  queue: string,
  behaviour: Behaviour,
): Promise<Rival> {
  const text = rivalProgram + consumer(queue, behaviour);
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
    cwd: root,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  }
  return {
    said: async (line) => {
      await waitFor(
        () => {
          if (output.split("\n").includes(line)) return true;
          throw new Error(`It said: ${output}`);
        },
        { what: `the rival says "${line}"`, timeoutMs: 50_000 },
      );
    },
    goOn: () => child.stdin.write("go on\n"),
    signal: (name) => child.kill(name),
    end: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
