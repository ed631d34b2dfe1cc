/**
 * Hears NOTIFY on a connection of its own.
 *
 * A notification is only a hint to look at the tables, and none is kept for a listener that is away.
 * So after every connect, the first included, the listener is told `missed`: look at everything.
 *
 * The danger is a connection that is dead and does not know it: a firewall forgot it, or a host went
 * away without a word. A listener only reads, so TCP would never notice. Therefore the connection is
 * probed by a query at regular times, and one that does not answer in time is given up.
 */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { backoffDelay } from "../../core/backoff.ts";

export type Wake =
  | { readonly kind: "notified"; readonly channel: string; readonly payload: string }
  | { readonly kind: "missed" };

export interface ListenOptions {
  readonly applicationName?: string;
  readonly probeEveryMs?: number;
  readonly probeTimeoutMs?: number;
  /** The pause after the first failure; it doubles up to the longest. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  readonly onError?: (error: Error) => void;
}

export interface Listener {
  /** Resolves when they are heard; without a connection at once, for the next one says `missed`. */
  add(channels: readonly string[]): Promise<void>;
  remove(channels: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Returns at once, also when the database is away: the first `missed` says that it listens. */
export function listen(
  url: string,
  channels: readonly string[],
  onWake: (wake: Wake) => void,
  options: ListenOptions = {},
): Listener {
  const { firstPauseMs = 100, longestPauseMs = 10_000, onError } = options;
  const closing = new AbortController();
  const isClosing = () => closing.signal.aborted;
  const wanted = new Set(channels);
  let current: Session | undefined;

  async function keepListening(): Promise<void> {
    let failures = 0;
    while (!isClosing()) {
      const session = openSession(url, options);
      try {
        await connect(session, onWake);
        current = session;
        await say("LISTEN", [...wanted]);
        failures = 0;
        onWake({ kind: "missed" });
        await probeUntilLost(session, options, closing.signal);
      } catch (error) {
        if (!isClosing()) onError?.(toError(error));
      } finally {
        current = undefined;
        session.destroy();
      }
      // An abort ends the pause, and then the loop.
      const pauseMs = backoffDelay(failures++, firstPauseMs, longestPauseMs);
      await pause(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  async function say(verb: "LISTEN" | "UNLISTEN", names: readonly string[]): Promise<void> {
    if (current === undefined || names.length === 0) return;
    await ask(current, names.map((name) => `${verb} ${pg.escapeIdentifier(name)}`).join("; "));
  }

  const running = keepListening();
  return {
    async add(more) {
      for (const name of more) wanted.add(name);
      // A connection that is lost meanwhile is made again, with them.
      await say("LISTEN", more).catch(() => undefined);
    },
    async remove(less) {
      for (const name of less) wanted.delete(name);
      await say("UNLISTEN", less).catch(() => undefined);
    },
    close: () => {
      closing.abort();
      return running;
    },
  };
}

interface Session {
  readonly client: pg.Client;
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
  /** When all questions so far are answered. */
  asked: Promise<void>;
  destroy(): void;
}

function openSession(url: string, options: ListenOptions): Session {
  const { probeTimeoutMs = 5000 } = options;
  const client = new pg.Client({
    connectionString: url,
    application_name: options.applicationName ?? "rmhdag listen",
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
    keepAlive: true,
  });
  const lost = new Promise<never>((_, reject) => {
    client.once("error", reject);
    client.once("end", () => {
      reject(new Error("The connection that listens was closed."));
    });
  });
  // It may be lost while nobody waits for it.
  lost.catch(() => undefined);
  client.on("error", () => undefined);
  return {
    client,
    lost,
    asked: Promise.resolve(),
    // Not `end`: that waits for the goodbye of a server that may be gone.
    destroy: () => {
      (
        client as unknown as { connection: { stream: { destroy(): void } } }
      ).connection.stream.destroy();
    },
  };
}

async function connect({ client }: Session, onWake: (wake: Wake) => void): Promise<void> {
  client.on("notification", ({ channel, payload }) => {
    onWake({ kind: "notified", channel, payload: payload ?? "" });
  });
  await client.connect();
}

/** One question at a time, in the order in which they were asked. */
async function ask(session: Session, text: string): Promise<void> {
  const before = session.asked;
  const answer = before.then(() => session.client.query(text));
  session.asked = answer.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([answer, session.lost]);
}

async function probeUntilLost(
  session: Session,
  { probeEveryMs = 10_000 }: ListenOptions,
  closing: AbortSignal,
): Promise<void> {
  const isClosing = () => closing.aborted;
  while (!isClosing()) {
    const next = pause(probeEveryMs, undefined, { signal: closing }).catch(() => undefined);
    await Promise.race([next, session.lost]);
    if (!isClosing()) await ask(session, "SELECT 1");
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
