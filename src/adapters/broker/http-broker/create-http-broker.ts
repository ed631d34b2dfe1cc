/**
 * The broker of a worker that reaches the orchestrator over HTTP and nothing else: it leases, renews
 * and reports by the worker protocol (docs/worker-protocol.md). It only consumes.
 */
import { setTimeout as pause } from "node:timers/promises";
import { ApiError } from "../../../core/api/api-error.ts";
import type { Client } from "../../../core/api/client.ts";
import { backoffDelay } from "../../../core/backoff.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Broker, ConsumeOptions, DeliveryHandler, Settled, Subscription } from "../broker.ts";
import { HttpDelivery } from "./delivery.ts";
import { startHttpRenewal } from "./renewal.ts";

export interface HttpBrokerOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly client: Client;
  readonly workerId: string;
  /** Registers the worker; called at the start, and when the orchestrator does not know it. */
  readonly register: () => Promise<{ readonly leaseSeconds: number }>;
  readonly log: Logger;
}

export interface HttpBroker extends Pick<Broker, "consume" | "close"> {
  /** Registers again, because the handlers have changed. */
  registerAgain(): Promise<void>;
}

const longestPauseMs = 5000;
const waitSeconds = 20;
const maxReports = 200;
/** The orchestrator answers these statuses to a body that it will never accept: sending it again is useless. */
const unfit: ReadonlySet<number> = new Set([400, 413]);
/** Results of tasks are worth waiting for an orchestrator that restarts. */
const reportAttempts = 60;
/** Tasks that take less are leased many at a time. */
const shortMs = 50;

interface RetryOptions {
  readonly attempts?: number;
  /** Aborted: the call is not repeated. */
  readonly signal?: AbortSignal;
}

type Report = Parameters<Client["reportTasks"]>[0]["body"]["results"][number];

export async function createHttpBroker(options: HttpBrokerOptions): Promise<HttpBroker> {
  const { client, workerId: worker_id, log } = options;
  const closing = new AbortController();
  const { leaseSeconds } = await retrying("registering", () => options.register());
  const renewal = startHttpRenewal({ ...options, leaseMs: leaseSeconds * 1000 }, log);
  const subscriptions = new Set<Subscription>();

  const reports = createBatcher<Report, Settled>({
    maxItems: maxReports,
    flush: async (results) => {
      const accepted = new Set(await sendReports(results));
      return results.map(({ lease }) => (accepted.has(lease) ? "ok" : "lost"));
    },
  });

  /**
   * Answers the leases that were accepted. Reports that are refused together, because they are too
   * large, are sent in halves; one that is refused by itself becomes a failure, or its task would run
   * again and again.
   */
  async function sendReports(results: readonly Report[]): Promise<readonly string[]> {
    try {
      const body = { worker_id, results: [...results] };
      const report = () => client.reportTasks({ body });
      return (await retrying("reporting", report, { attempts: reportAttempts })).accepted;
    } catch (error) {
      if (!(error instanceof ApiError) || !unfit.has(error.status)) throw error;
      const [first] = results;
      if (results.length > 1) {
        const half = Math.ceil(results.length / 2);
        const accepted = await sendReports(results.slice(0, half));
        return [...accepted, ...(await sendReports(results.slice(half)))];
      }
      if (first === undefined || first.status === "failed") throw error;
      const refusal = { code: error.code, message: error.detail, category: "permanent" as const };
      return sendReports([{ lease: first.lease, status: "failed", error: refusal }]);
    }
  }

  /** Repeats a call while the orchestrator is away, and registers where it does not know us. */
  async function retrying<T>(
    what: string,
    call: () => Promise<T>,
    { attempts = Infinity, signal = closing.signal }: RetryOptions = {},
  ): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (error instanceof ApiError && error.code === "WORKER_NOT_REGISTERED") {
          await options.register();
          continue;
        }
        if (isRefusal(error) || attempt + 1 >= attempts || signal.aborted) throw error;
        const pauseMs = backoffDelay(attempt, 100, longestPauseMs);
        log.warn({ err: error, pauseMs }, `${what} failed; trying again`);
        await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async function consume(
    queue: string,
    { maxInFlight, accepts }: ConsumeOptions,
    handler: DeliveryHandler,
  ): Promise<Subscription> {
    const running = new Map<HttpDelivery, Promise<void>>();
    /** Those of them whose handler works; the others are being reported. */
    const working = new Set<string>();
    const stopping = new AbortController();
    const isStopping = () => stopping.signal.aborted;
    let averageMs = 1000;
    let wake: () => void = () => undefined;

    /** Frees the slot of a task: the next ones are leased while it is reported. */
    function free(lease: string, since: number): void {
      if (!working.delete(lease)) return;
      averageMs = 0.9 * averageMs + 0.1 * (performance.now() - since);
      wake();
    }

    async function run(held: HttpDelivery, since: number): Promise<void> {
      try {
        await handler(held);
        if (!held.isSettled()) await held.release();
      } catch (err) {
        log.warn({ err, queue, message: held.id }, "a message handler threw");
        await held.release().catch(() => undefined);
      } finally {
        renewal.drop(held.lease);
        running.delete(held);
        free(held.lease, since);
        wake();
      }
    }

    async function loop(): Promise<void> {
      while (!isStopping()) {
        // Reports that take long hold up new tasks.
        const room = Math.min(maxInFlight - working.size, 2 * maxInFlight - running.size);
        if (room < (averageMs < shortMs ? maxInFlight / 2 : 1)) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        const lease = () =>
          client.leaseTasks({
            body: {
              worker_id,
              queues: [queue],
              max: Math.min(1000, Math.max(1, Math.floor(room))),
              wait_seconds: waitSeconds,
              ...(accepts === undefined ? {} : { handlers: [...accepts()] }),
            },
            signal: AbortSignal.any([
              stopping.signal,
              AbortSignal.timeout((waitSeconds + 10) * 1000),
            ]),
          });
        const { tasks } = await retrying("leasing", lease, { signal: stopping.signal });
        for (const task of tasks) {
          const since = performance.now();
          const held = new HttpDelivery({ client, worker_id, reports, renewal }, task, () => {
            free(task.lease, since);
          });
          working.add(task.lease);
          renewal.hold(task.lease, (cause) => {
            held.abort(cause);
          });
          running.set(held, run(held, since));
        }
      }
    }

    const looping = loop().catch((err: unknown) => {
      if (!isStopping()) log.error({ err, queue }, "tasks can no longer be leased");
    });
    const subscription: Subscription = {
      close: async ({ graceMs = 30_000 } = {}) => {
        if (isStopping()) return;
        stopping.abort();
        wake();
        await looping;
        for (const held of running.keys()) held.abort("shutdown");
        await Promise.race([Promise.all(running.values()), pause(graceMs)]);
        await Promise.all([...running.keys()].map((held) => held.release()));
        subscriptions.delete(subscription);
      },
    };
    subscriptions.add(subscription);
    return subscription;
  }

  return {
    consume,
    registerAgain: async () => {
      await retrying("registering", () => options.register());
    },
    close: async () => {
      await Promise.all([...subscriptions].map((one) => one.close({ graceMs: 0 })));
      await reports.idle();
      closing.abort();
      await renewal.stop();
      await client
        .releaseTasks({ body: { worker_id, leave: true }, signal: AbortSignal.timeout(2000) })
        .catch((err: unknown) => {
          log.warn({ err }, "the worker could not be taken off the list");
        });
    },
  };
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
  );
}
