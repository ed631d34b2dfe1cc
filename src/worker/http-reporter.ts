/**
 * Reports over HTTP, for workers that do not write to the database: the orchestrator answers whether
 * the task is still this worker's. The result is sent first and the message completed after it, so
 * that a crash between the two repeats a report and loses none.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createBatcher } from "../adapters/runtime/batcher.ts";
import { createDebouncedWriter } from "../adapters/runtime/debounced-writer.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { ApiError } from "../core/api/api-error.ts";
import { createClient } from "../core/api/client.ts";
import type { Client } from "../core/api/client.ts";
import { backoffDelay } from "../core/backoff.ts";
import { isJsonObject } from "../core/model/json.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { Reporter } from "./reporter.ts";
import { splitBySize } from "./split-by-size.ts";

export interface HttpReporterOptions {
  /** Such as `http://orchestrator:8000`. */
  readonly callbackUrl: string;
  readonly serviceToken: string | undefined;
  readonly workerId: string;
  readonly log: Logger;
  readonly firstPauseMs?: number;
}

type ReportBody = Parameters<Client["reportResults"]>[0]["body"];
type ReportedResult = Extract<ReportBody, { results: unknown }>["results"][number];
type ReportedProgress = Parameters<Client["reportProgress"]>[0]["body"];

const maxResults = 100;
const answerTimeoutMs = 10_000;
const longestPauseMs = 10_000;
const attempts = 40;

export function createHttpReporter(options: HttpReporterOptions): Reporter {
  const { callbackUrl, serviceToken, workerId, log } = options;
  const client = createClient({ baseUrl: callbackUrl, token: serviceToken, fetch });

  /** Retries while the orchestrator is away or overloaded; a refused request is not sent again. */
  async function retrying<T>(what: string, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { firstPauseMs = 200 } = options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(AbortSignal.timeout(answerTimeoutMs));
      } catch (error) {
        if (attempt >= attempts || isRefusal(error)) throw error;
        const pauseMs = backoffDelay(attempt - 1, firstPauseMs, longestPauseMs);
        log.warn({ err: error, pauseMs }, `${what} could not be reported; trying again`);
        await pause(pauseMs);
      }
    }
  }

  const results = createBatcher<SizedResult, "ok" | "lost">({
    maxItems: maxResults,
    flush: async (batch) => {
      const acceptedIds = new Set<string>();
      for (const part of splitBySize(batch, ({ size }) => size)) {
        const results = part.map(({ result }) => result);
        const { accepted } = await retrying("results", (signal) =>
          client.reportResults({ body: { results }, signal }),
        );
        for (const id of accepted) acceptedIds.add(id);
      }
      return batch.map(({ result }) => (acceptedIds.has(result.task_id) ? "ok" : "lost"));
    },
  });
  const progress = createDebouncedWriter<ReportedProgress>({
    what: "progress",
    delayMs: 1000,
    maxWaiting: 1000,
    write: async (items) => {
      for (const body of items) {
        await client.reportProgress({ body, signal: AbortSignal.timeout(answerTimeoutMs) });
      }
    },
    log,
  });

  return {
    async report({ message, delivery }, outcome) {
      const { task_id, job_id, node_id } = message;
      const task = { task_id, job_id, node_id, worker_id: workerId };
      const answer = await results.add(
        outcome.status === "completed"
          ? {
              result: {
                ...task,
                status: "completed",
                output: JSON.parse(outcome.output) as JsonObject,
              },
              size: outcome.output.length,
            }
          : {
              result: { ...task, status: "failed", error: outcome.error },
              size: outcome.error.message.length,
            },
      );
      const settled = await delivery.complete();
      return answer === "lost" ? "lost" : settled;
    },

    progress({ message: { task_id, job_id, node_id } }, percent, message) {
      const text = message === undefined ? {} : { message: message.slice(0, 1024) };
      progress.add(task_id, { task_id, job_id, node_id, percent, ...text });
    },

    async loadCheckpoint({ message }) {
      const query = new URLSearchParams({ job_id: message.job_id, node_id: message.node_id });
      const url = `${callbackUrl.replace(/\/+$/, "")}/api/v1/callbacks/checkpoint?${query.toString()}`;
      const headers: Record<string, string> =
        serviceToken === undefined ? {} : { authorization: `Bearer ${serviceToken}` };
      return retrying("a checkpoint request", async (signal) => {
        const answer = await fetch(url, { headers, signal });
        if (answer.status === 404) return undefined;
        if (!answer.ok) throw new Error(`The orchestrator answered ${answer.status}.`);
        const body: unknown = await answer.json();
        const checkpoint = isJsonObject(body) ? body["checkpoint"] : undefined;
        if (!isJsonObject(checkpoint)) return undefined;
        const { phase, data } = checkpoint;
        return typeof phase === "string" && isJsonObject(data) ? { phase, data } : undefined;
      });
    },

    async saveCheckpoint({ message: { task_id, job_id, node_id } }, phase, data) {
      const body = { task_id, job_id, node_id, phase, data: JSON.parse(data) as JsonObject };
      try {
        await retrying("a checkpoint", (signal) => client.saveCheckpoint({ body, signal }));
        return "ok";
      } catch (error) {
        if (error instanceof ApiError && error.code === "STALE_ATTEMPT") return "lost";
        throw error;
      }
    },

    // The API takes no log lines; they are in the log of this process.
    log: () => undefined,

    async close() {
      await results.idle();
      await progress.close();
    },
  };
}

interface SizedResult {
  readonly result: ReportedResult;
  /** Characters of the output or error. */
  readonly size: number;
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
  );
}
