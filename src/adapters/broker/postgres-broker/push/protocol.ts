/**
 * The lines of JSON between a push server, in an orchestrator, and its clients, in workers.
 *
 * The connection saves time and holds no truth. A message is leased to the worker in the database
 * before it is pushed, and a report is answered when it is recorded there. A connection that breaks
 * costs a detour through the database and nothing else.
 *
 * Both ends prove that they know the server's key, which is in the database: within a machine by an
 * exchange of HMACs (prove-key.ts), otherwise by TLS with that pre-shared key, which encrypts and
 * authenticates every line.
 */
import { z } from "zod";
import type { LeasedMessage } from "../sql/message-columns.ts";

export const tlsOptions = {
  // Pre-shared keys need TLS 1.2 in Node; both suites have forward secrecy.
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
  ciphers: "ECDHE-PSK-CHACHA20-POLY1305:DHE-PSK-AES256-GCM-SHA384",
} as const;

/** Whether this is an address that only this machine reaches; a name may stand for any address. */
export function isLoopback(host: string): boolean {
  return host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** The TLS identity of a worker, whose id may hold any character. */
export function toIdentity(workerId: string): string {
  return Buffer.from(workerId).toString("base64url");
}

export function fromIdentity(identity: string): string {
  return Buffer.from(identity, "base64url").toString();
}

export type FromServer =
  /** Messages of one queue, leased to this worker. */
  | { readonly queue: string; readonly messages: readonly LeasedMessage[] }
  /** Reports, by their message ids, that are recorded. */
  | { readonly recorded: readonly number[] }
  /** Reports that the server did not record: the worker writes them to the database. */
  | { readonly refused: readonly number[] }
  /** Answers `stop`: no further message of that queue follows. */
  | { readonly stopped: string };

const sentReport = z.object({
  lease: z.object({ message_id: z.number(), deliveries: z.number() }),
  leased_at: z.string().nullable(),
  task_id: z.string(),
  job_id: z.string(),
  node_id: z.string(),
  status: z.enum(["completed", "failed"]),
  output: z.string().nullable(),
  error: z.string().nullable(),
});
export type SentReport = z.output<typeof sentReport>;

/** The parts of one line; each may be absent. */
export const fromClient = z.object({
  reports: z.array(sentReport).optional(),
  /** The handlers whose messages the worker takes; absent in all lines: it takes any. */
  handlers: z.array(z.string()).optional(),
  /** How many more messages of a queue the worker takes. */
  credit: z.record(z.string(), z.number().int().positive()).optional(),
  /** The worker takes no further message of this queue. */
  stop: z.string().optional(),
});
export type FromClient = z.output<typeof fromClient>;

/** Passes on whole lines of a stream of text; answers the length of the unfinished one. */
export function createLineReader(onLine: (line: string) => void): (piece: string) => number {
  let rest = "";
  return (piece) => {
    // Joining text without looking into it costs nothing, however long the line grows.
    if (!piece.includes("\n")) {
      rest += piece;
      return rest.length;
    }
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
    return rest.length;
  };
}
