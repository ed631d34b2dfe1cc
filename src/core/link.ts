/**
 * What an orchestrator and a worker say to each other on their direct connection: lines of JSON.
 *
 * A link saves time and holds no truth. A message that is handed over is leased to the worker in the
 * database before it leaves, and a result that is told is acknowledged when it is recorded there; a
 * link that breaks costs nothing but the way through the database.
 */
import { z } from "zod";

/** A leased message, as a consumer of its queue would have got it. */
export interface HandedMessage {
  readonly message_id: number;
  readonly priority: number;
  readonly deliveries: number;
  readonly handed_back: number;
  readonly message_key: string;
  readonly headers: Readonly<Record<string, string | number | boolean>> | null;
  readonly body: string;
  /** When it was leased, by the database's clock: the time at which its task began. */
  readonly leased_at: string;
}

export type FromOrchestrator =
  /** First of all: what the worker's proof is made of. */
  | { readonly nonce: string }
  | { readonly queue: string; readonly messages: readonly HandedMessage[] }
  /** A letter for each result, in the order in which they were told. */
  | { readonly settled: string }
  /** Nothing more is handed over. */
  | { readonly bye: true };

/** `again`: not recorded; tell it to the database. */
export type Settling = "ok" | "lost" | "again";
const letters: Readonly<Record<Settling, string>> = { ok: "o", lost: "l", again: "a" };

export function toLetters(settled: readonly Settling[]): string {
  return settled.map((one) => letters[one]).join("");
}

export function fromLetter(letter: string): Settling {
  return letter === "o" ? "ok" : letter === "l" ? "lost" : "again";
}

const toldResult = z.object({
  lease: z.object({
    message_id: z.number(),
    deliveries: z.number(),
    leased_at: z.string().optional(),
  }),
  task_id: z.string(),
  job_id: z.string(),
  node_id: z.string(),
  status: z.enum(["completed", "failed"]),
  output: z.string().nullable(),
  error: z.string().nullable(),
});
export type ToldResult = z.output<typeof toldResult>;

export const hello = z.object({ worker: z.string().min(1).max(128), proof: z.string() });
export type Hello = z.output<typeof hello>;

/** The parts of one line, of which each may be absent. */
export const fromWorker = z.object({
  told: z.array(toldResult).optional(),
  /** How many more messages of a queue it takes. */
  grants: z.record(z.string(), z.number().int().positive()).optional(),
  bye: z.boolean().optional(),
});
export type FromWorker = z.output<typeof fromWorker>;

/** Feeds on pieces of text and tells whole lines; answers how long the unfinished one is. */
export function createLineReader(onLine: (line: string) => void): (piece: string) => number {
  let rest = "";
  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    return rest.length;
  };
}
