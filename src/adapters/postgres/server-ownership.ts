/**
 * Who still needs an embedded server, and who stops it.
 *
 * Every owner holds a shared advisory lock in a session of its own. The kernel closes the session of
 * an owner that dies, however it dies, so the server's own lock table is a count of the living
 * owners: there are no pid files that could be stale, and no pids that could be reused.
 *
 * - An owner that stops asks for the lock exclusively. It gets it when it is the last, and then
 *   stops the server while it holds the lock; whoever wants to become an owner at that moment waits
 *   for the lock, loses its connection, and starts a server anew.
 * - For owners that die there is a watchdog: a session that tries the exclusive lock every second
 *   and, when it gets it, lets the server stop itself. Its client is one of the owners, but it lives
 *   on without a client, because a session notices a lost client only when it has something to say.
 *   So there is no further process. Every owner offers to start the watchdog, and a second lock lets
 *   one of them do so.
 *
 * A server that restarts after a crash of one session ends all of them: the owner and the watchdog
 * then come back.
 */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

export interface Ownership {
  /**
   * Gives the server up. If nobody else owns it, `stopServer` is called while the lock is held, and
   * must return when the server is gone.
   */
  release(stopServer: () => Promise<void>): Promise<void>;
}

/** Advisory locks are per database, and every cluster has this one. */
const database = "postgres";
const ownerLock = 7_236_400_002;
const watchdogLock = 7_236_400_003;
/** The driver has these, its types do not. */
type Session = pg.Client & { ref(): void; unref(): void };

const reconnectPauseMs = 200;
const reconnectAttempts = 50;

/** Postgres runs the command in its data folder, where the pid file has the server's pid on top. */
const watchdog = `
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

/** Rejects while the server starts or stops: the caller then looks again at what there is. */
export async function takeOwnership(serverUrl: string): Promise<Ownership> {
  let owner = await openOwnerSession(serverUrl);
  const over = new AbortController();
  const isOver = () => over.signal.aborted;
  keepOwning(owner);
  keepWatchdog(serverUrl, over.signal);

  function keepOwning(session: Session): void {
    owner = session;
    session.once("end", () => void comeBack());
    // Neither session is a reason for a program to go on that has nothing else to do.
    session.unref();
  }

  async function comeBack(): Promise<void> {
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
      // A server that is already gone has nothing to be asked.
      const last = await isLastOwner(owner).catch(() => false);
      if (last) await stopServer();
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
 * The lock is first asked for on top of our own shared one, so that the watchdog cannot take it in
 * between. Of two owners that stop at the same moment neither gets it that way: so we then let go
 * of the shared one and ask again.
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

/** Offers a watchdog, and again when it is lost; the offer ends when somebody else has one. */
function keepWatchdog(serverUrl: string, over: AbortSignal): void {
  const session = newSession(serverUrl, "rmhdag watchdog");
  const end = () => void session.end().catch(() => undefined);
  over.addEventListener("abort", end, { once: true });
  session
    .connect()
    .then(() => {
      session.unref();
      return session.query(watchdog);
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
  // What matters about a lost session is its end, which has an event of its own.
  session.on("error", () => undefined);
  return session;
}
