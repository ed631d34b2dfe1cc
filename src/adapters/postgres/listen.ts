/**
 * Receives NOTIFY on a dedicated connection.
 *
 * A notification only says that a table has news, and PostgreSQL keeps none for a listener that is
 * not connected. So after every connect, the first included, `onWake` is called with `missed`: the
 * caller must read all of its tables.
 *
 * A connection can be dead without an error: a firewall dropped it, or the server's host lost power.
 * A listener only reads, so TCP would never notice. Therefore a query probes the connection at regular
 * times, and a connection that does not answer in time is closed and opened again.
 */
import { connectOptions } from "./connect-options.ts";
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
  /** Resolves when the server listens; without a connection at once, for `missed` follows it. */
  add(channels: readonly string[]): Promise<void>;
  remove(channels: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Returns at once, also without a database: the first `missed` says that it is connected. */
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
    await query(current, names.map((name) => `${verb} ${pg.escapeIdentifier(name)}`).join("; "));
  }

  const running = keepListening();
  return {
    async add(more) {
      for (const name of more) wanted.add(name);
      // Ignored: a lost connection is opened again and then listens to all wanted channels.
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
  /** Resolves when every query so far is answered. */
  idle: Promise<void>;
  destroy(): void;
}

function openSession(url: string, options: ListenOptions): Session {
  const { probeTimeoutMs = 5000 } = options;
  const client = new pg.Client({
    ...connectOptions(url),
    application_name: options.applicationName ?? "rmhdag listen",
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
    keepAlive: true,
  });
  const lost = new Promise<never>((_, reject) => {
    client.once("error", reject);
    client.once("end", () => {
      reject(new Error("The listening connection was closed."));
    });
  });
  // The connection may be lost while no code awaits `lost`.
  lost.catch(() => undefined);
  client.on("error", () => undefined);
  return {
    client,
    lost,
    idle: Promise.resolve(),
    // Not `end`: it waits for an answer of a server that may be gone.
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

/** Runs one query at a time, in the order of the calls. */
async function query(session: Session, text: string): Promise<void> {
  const answer = session.idle.then(() => session.client.query(text));
  session.idle = answer.then(
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
    if (!isClosing()) await query(session, "SELECT 1");
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
