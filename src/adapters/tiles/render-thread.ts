/**
 * A thread that reads rasters and draws: it runs the tasks that `start-render-threads.ts` sends. A file
 * on this machine is read here; the bytes of any other come from the orchestrator, which alone has the
 * credentials of its storage.
 */
import { parentPort, workerData } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import sharp from "sharp";
import type { ByteStore } from "./byte-source.ts";
import { createRenderer } from "./create-renderer.ts";
import { readLocalRange } from "./read-local-range.ts";
import type {
  FoundFile,
  FromThread,
  Outcome,
  Question,
  TaskKind,
  ThreadData,
  ToThread,
} from "./thread-protocol.ts";
import { failed, movable, take } from "./thread-protocol.ts";

if (parentPort === null) throw new Error("This file runs as a thread.");
const port = parentPort;
const { blockCacheBytes } = workerData as ThreadData;
const mostKnownFiles = 10_000;

// The threads share the cores already, and no picture is made twice from the same buffer.
sharp.concurrency(1);
sharp.cache(false);

const questions = new Map<number, (outcome: Outcome) => void>();
let lastQuestion = 0;

function ask(question: Question): Promise<unknown> {
  const id = ++lastQuestion;
  return new Promise<Outcome>((resolve) => {
    questions.set(id, resolve);
    post({ kind: "ask", id, question });
  }).then(take);
}

const localFiles = new LRUCache<string, string>({ max: mostKnownFiles });

const storage: ByteStore = {
  head: async (path) => {
    const found = (await ask({ kind: "head", path })) as FoundFile | undefined;
    if (found?.file === undefined) localFiles.delete(path);
    else localFiles.set(path, found.file);
    return found;
  },
  readRange: async (path, offset, length) => {
    const file = localFiles.get(path);
    if (file !== undefined) return readLocalRange(file, offset, length);
    return (await ask({ kind: "read", path, offset, length })) as Uint8Array;
  },
};

const tasks = createRenderer(storage, blockCacheBytes) as unknown as Readonly<
  Record<TaskKind, (params: unknown, signal: AbortSignal) => Promise<unknown>>
>;
const running = new Map<number, AbortController>();

async function run({ id, task, params }: Extract<ToThread, { kind: "task" }>): Promise<void> {
  const aborter = new AbortController();
  running.set(id, aborter);
  const outcome = await tasks[task](params, aborter.signal).then(
    (value): Outcome => ({ value }),
    failed,
  );
  running.delete(id);
  post({ kind: "done", id, outcome }, "value" in outcome ? movable(outcome.value) : []);
}

function post(message: FromThread, moved: ArrayBuffer[] = []): void {
  port.postMessage(message, moved);
}

port.on("message", (message: ToThread) => {
  if (message.kind === "task") void run(message);
  else if (message.kind === "abort") running.get(message.id)?.abort();
  else {
    questions.get(message.id)?.(message.outcome);
    questions.delete(message.id);
  }
});
