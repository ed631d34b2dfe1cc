/**
 * Counts the processes that use an embedded server (its owners), and stops the server with the last.
 *
 * Every owner holds a shared advisory lock in a dedicated session. The kernel closes the connection of
 * an owner that dies, however it dies, so the server's lock table counts the living owners: there are
 * no pid files that could be stale, and no pids that could be reused.
 *
 * - An owner that stops tries to take the lock exclusively. The last owner gets it and stops the server
 *   while it holds the lock. A process that wants to become an owner at that moment waits for the lock,
 *   loses its connection, and starts the server again.
 * - When the last owner dies, the watchdog stops the server: a session that tries the exclusive lock
 *   every second and, when it gets it, makes the server stop itself. One of the owners starts it, but
 *   the session survives that owner, because PostgreSQL notices a lost client only when it sends to it.
 *   So no further process is needed. Every owner tries to start the watchdog, and a second lock lets
 *   only one run.
 *
 * When one session crashes, the server restarts and ends all sessions: each owner then connects again
 * and starts the watchdog again.
 */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

export interface Ownership {
  /**
   * Releases the server. If there is no other owner, `stopServer` is called while the lock is held; it
   * must return when the server has stopped.
   */
  release(stopServer: () => Promise<void>): Promise<void>;
}

/** Advisory locks are per database, and every cluster has this one. */
const database = "postgres";
const ownerLock = 7_236_400_002;
const watchdogLock = 7_236_400_003;
/** The driver has these methods; its types omit them. */
type Session = pg.Client & { ref(): void; unref(): void };

const reconnectPauseMs = 200;
const reconnectAttempts = 50;

/** PostgreSQL runs the command in its data folder; the first line of postmaster.pid is its pid. */
const runWatchdog = `
  DO $$
  BEGIN
    IF NOT pg_try_advisory_lock(${watchdogLock}) THEN RETURN; END IF;
    LOOP
      PERFORM pg_sleep(1);
      COMMIT; -- an open transaction would keep VACUUM from removing anything
      IF pg_try_advisory_lock(${ownerLock}) THEN
        COPY (SELECT) TO PROGRAM 'kill -INT "$(head -n 1 postmaster.pid)"';
        PERFORM pg_sleep(3600); -- keep the lock until the server ends this session
      END IF;
    END LOOP;
  END $$`;

/** Rejects while the server starts or stops: the caller then finds or starts a server again. */
export async function takeOwnership(serverUrl: string): Promise<Ownership> {
  let owner = await openOwnerSession(serverUrl);
  const over = new AbortController();
  const isOver = () => over.signal.aborted;
  keepOwning(owner);
  keepWatchdog(serverUrl, over.signal);

  function keepOwning(session: Session): void {
    owner = session;
    session.once("end", () => void reconnect());
    // Neither session may keep a program running that has nothing else to do.
    session.unref();
  }

  async function reconnect(): Promise<void> {
    for (let attempt = 0; attempt < reconnectAttempts && !isOver(); attempt++) {
      await pause(reconnectPauseMs, undefined, { ref: false });
      const session = await openOwnerSession(serverUrl).catch(() => undefined);
      if (session === undefined) continue;
      if (isOver()) await session.end();
      else keepOwning(session);
      return;
    }
    over.abort();
  }

  return {
    async release(stopServer) {
      if (isOver()) return;
      over.abort();
      owner.ref();
      // The query fails when the server has already stopped.
      const isLast = await isLastOwner(owner).catch(() => false);
      if (isLast) await stopServer();
      await owner.end().catch(() => undefined);
    },
  };
}

async function openOwnerSession(serverUrl: string): Promise<Session> {
  const session = newSession(serverUrl, "rmhdag owner");
  try {
    await session.connect();
    await session.query("SELECT pg_advisory_lock_shared($1)", [ownerLock]);
    return session;
  } catch (error) {
    void session.end().catch(() => undefined);
    throw error;
  }
}

/**
 * Tries the exclusive lock while the shared lock is held, so that the watchdog cannot take it in
 * between. Of two owners that stop at the same moment neither gets it that way, so the shared lock is
 * then released and the exclusive one tried again.
 */
async function isLastOwner(session: Session): Promise<boolean> {
  const { rows } = await session.query<{ last: boolean }>(
    `SELECT CASE
       WHEN pg_try_advisory_lock($1) THEN true
       WHEN pg_advisory_unlock_shared($1) THEN pg_try_advisory_lock($1)
       ELSE false
     END AS last`,
    [ownerLock],
  );
  return rows[0]?.last === true;
}

/** Starts a watchdog, again after an error; stops trying when another owner's watchdog runs. */
function keepWatchdog(serverUrl: string, over: AbortSignal): void {
  const session = newSession(serverUrl, "rmhdag watchdog");
  const end = () => void session.end().catch(() => undefined);
  over.addEventListener("abort", end, { once: true });
  session
    .connect()
    .then(() => {
      session.unref();
      return session.query(runWatchdog);
    })
    .catch(async () => {
      await pause(reconnectPauseMs, undefined, { ref: false });
      if (!over.aborted) keepWatchdog(serverUrl, over);
    })
    .finally(() => {
      over.removeEventListener("abort", end);
      end();
    })
    .catch(() => undefined);
}

function newSession(serverUrl: string, name: string): Session {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  const session = new pg.Client({
    connectionString: url.href,
    application_name: name,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
  }) as Session;
  // An event without a listener would end the process; `end` follows, and its listener reconnects.
  session.on("error", () => undefined);
  return session;
}
