import { backoffDelay } from "../../core/backoff.ts";
import { layoutOf } from "./layout.ts";
import { findRunningServer } from "./running-server.ts";
import { startEmbeddedPostgres } from "./start-embedded-postgres.ts";
import type { EmbeddedPostgres, StartEmbeddedPostgresOptions } from "./start-embedded-postgres.ts";

export interface KeepRunningOptions extends StartEmbeddedPostgresOptions {
  /** Called when the server has died and when it runs again. */
  readonly say: (line: string) => void;
  /** The server runs again at an address that the programs do not know. */
  readonly onMoved: (reason: string) => void;
}

const lookEveryMs = 500;
const longestPauseMs = 10_000;

/** Starts the server again when its process has died. Answers how to stop both. */
export function keepRunning(
  started: EmbeddedPostgres,
  options: KeepRunningOptions,
): { readonly stop: () => Promise<void> } {
  const layout = layoutOf(options.dataDirectory);
  let server = started;
  let isStopping = false;
  let failures = 0;
  let looking: Promise<void> = Promise.resolve();
  let timer = schedule(lookEveryMs);

  function schedule(pauseMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      looking = look();
    }, pauseMs);
  }

  async function look(): Promise<void> {
    let pauseMs = lookEveryMs;
    try {
      if ((await findRunningServer(layout)) === undefined && !isStopping) await restart();
      failures = 0;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      pauseMs = backoffDelay(failures++, lookEveryMs, longestPauseMs);
      options.say(`the database does not start: ${reason}`);
    }
    if (!isStopping) timer = schedule(pauseMs);
  }

  async function restart(): Promise<void> {
    options.say("the database has died; starting it again");
    // Must come first: the old ownership would connect to the new server, and never release it.
    await server.stop();
    server = await startEmbeddedPostgres(options);
    if (server.port !== started.port) {
      options.onMoved(`The database's port ${started.port} is taken: start rmhdag again.`);
    } else options.say("the database runs again");
  }

  return {
    stop: async () => {
      isStopping = true;
      clearTimeout(timer);
      await looking;
      clearTimeout(timer);
      await server.stop();
    },
  };
}
