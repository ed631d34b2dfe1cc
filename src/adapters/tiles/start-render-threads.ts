/**
 * A renderer whose tasks run in threads, as many as there are cores and at least two, so that a heavy
 * picture never holds up the others. Threads start when they are needed. A thread that dies fails the
 * tasks that it had; another one takes its place with the next task.
 */
import { realpath } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import type { ResourceLimits } from "node:worker_threads";
import { Worker } from "node:worker_threads";
import { Problem } from "../../core/errors.ts";
import type { ByteStore } from "./byte-source.ts";
import type { ThreadLog } from "./raster-server.ts";
import type { Tile } from "../../core/serving/web-mercator.ts";
import type { Renderer } from "./renderer.ts";
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

/** One thread's tasks at once: while libvips encodes one picture, the thread reads the next. */
const tasksPerThread = 4;
/** Of all threads together: an eighth of the memory that this process may use, and no more than this. */
const mostBlockCacheBytes = 512 * 1024 * 1024;
/** A thread that has so many tasks more than another is not given one for the sake of its blocks. */
const mostAhead = 2;

/** The bundled thread, which starts in half the time of its modules, of this file in src/ or dist/. */
const threadFile = new URL(
  import.meta.url.replace(
    /\/(src|dist)\/adapters\/tiles\/[^/]+$/,
    "/dist/programs/render-thread.js",
  ),
);

interface Thread {
  readonly worker: Worker;
  readonly tasks: Map<number, (outcome: Outcome) => void>;
}

export interface RenderThreads {
  readonly renderer: Renderer;
  /** The tasks that the threads can run at once. */
  readonly atOnce: number;
  /** Ends the threads; their tasks fail. */
  stop(): Promise<void>;
}

export function startRenderThreads(
  storage: ByteStore,
  log: ThreadLog,
  options: { readonly most?: number; readonly resourceLimits?: ResourceLimits } = {},
): RenderThreads {
  const most = options.most ?? Math.max(2, availableParallelism());
  const threads = new Set<Thread>();
  let lastTask = 0;

  function start(): Thread {
    const data: ThreadData = { blockCacheBytes: blockCacheBytes() / most };
    // Without the flags of the process: some, such as --input-type, are refused with a file.
    const worker = new Worker(threadFile, {
      workerData: data,
      execArgv: [],
      ...(options.resourceLimits && { resourceLimits: options.resourceLimits }),
    });
    const thread: Thread = { worker, tasks: new Map() };
    worker.on("message", (message: FromThread) => {
      receive(thread, message);
    });
    worker.on("error", (err) => {
      log.error({ err }, "a thread that renders failed");
    });
    worker.once("exit", () => {
      threads.delete(thread);
      for (const end of thread.tasks.values()) end(failed(threadEnded()));
    });
    // A thread without a task does not keep the process alive.
    worker.unref();
    threads.add(thread);
    return thread;
  }

  /**
   * Starts a thread while all are busy and more are allowed. Otherwise it answers the thread on which `place`
   * falls, because that thread may have decoded the same blocks before, or the one with the fewest tasks
   * where that has far fewer.
   */
  function choose(place: number): Thread {
    const fewest = Math.min(...[...threads].map(({ tasks }) => tasks.size));
    if (fewest > 0 && threads.size < most) return start();
    const near = [...threads][place % threads.size];
    const ahead = fewest === 0 ? 0 : mostAhead;
    if (near !== undefined && near.tasks.size <= fewest + ahead) return near;
    return [...threads].find(({ tasks }) => tasks.size === fewest) ?? start();
  }

  function receive(thread: Thread, message: FromThread): void {
    if (message.kind === "done") thread.tasks.get(message.id)?.(message.outcome);
    else void answer(thread, message.id, message.question);
  }

  async function answer(thread: Thread, id: number, question: Question): Promise<void> {
    const outcome = await answerQuestion(storage, question).then(
      (value): Outcome => ({ value }),
      failed,
    );
    const moved = "value" in outcome ? movable(outcome.value) : [];
    post(thread, { kind: "answer", id, outcome }, moved);
  }

  async function run(
    task: TaskKind,
    params: unknown,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const thread = choose(placeOf(params));
    const id = ++lastTask;
    const outcome = await new Promise<Outcome>((resolve, reject) => {
      const abort = () => {
        post(thread, { kind: "abort", id });
        reject(signal?.reason as Error);
      };
      if (thread.tasks.size === 0) thread.worker.ref();
      thread.tasks.set(id, (done) => {
        thread.tasks.delete(id);
        if (thread.tasks.size === 0) thread.worker.unref();
        signal?.removeEventListener("abort", abort);
        resolve(done);
      });
      signal?.addEventListener("abort", abort, { once: true });
      post(thread, { kind: "task", id, task, params });
    });
    return take(outcome);
  }

  const pass =
    <Kind extends TaskKind>(kind: Kind) =>
    (params: unknown, signal?: AbortSignal) =>
      run(kind, params, signal) as ReturnType<Renderer[Kind]>;

  return {
    atOnce: most * tasksPerThread,
    renderer: {
      tile: pass("tile"),
      mosaic: pass("mosaic"),
      preview: pass("preview"),
      point: pass("point"),
      statistics: pass("statistics"),
      zones: pass("zones"),
      info: pass("info"),
      zooms: pass("zooms"),
    },
    stop: async () => {
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}

function post({ worker }: Thread, message: ToThread, moved: ArrayBuffer[] = []): void {
  worker.postMessage(message, moved);
}

function threadEnded(): Problem {
  return new Problem("UNAVAILABLE", "The thread that drew this ended; ask again.", [], {
    retryAfterSeconds: 1,
  });
}

async function answerQuestion(
  storage: ByteStore,
  question: Question,
): Promise<FoundFile | Uint8Array | undefined> {
  const { kind, path } = question;
  if (kind === "read") {
    const bytes = await storage.readRange(path, question.offset, question.length);
    // Copied, because storage may have given a part of a buffer that it still needs.
    return new Uint8Array(bytes);
  }
  const found = await storage.head(path);
  if (found === undefined) return undefined;
  const local = await storage.localPath?.(path);
  return { bytes: found.bytes, file: local === undefined ? undefined : await realpath(local) };
}

/** `constrainedMemory` is 0 or without meaning where the process has no limit of its own. */
function blockCacheBytes(): number {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(mostBlockCacheBytes, Math.floor(memory / 8));
}

/**
 * Neighbouring tiles have the same number, as they often need the same blocks: those below one tile of
 * zoom 1, 5, 9, 13 or 17, which has at least four tiles a side of the next zooms. The tiles of 30 m, 10 m
 * and 1 m in full resolution and those of the zoom above them read the same blocks, in one thread.
 */
function placeOf(params: unknown): number {
  const { tile } = params as { readonly tile?: Tile };
  if (tile === undefined) return 0;
  const up = 2 + ((tile.z + 1) % 4);
  return (tile.x >> up) + (tile.y >> up);
}
