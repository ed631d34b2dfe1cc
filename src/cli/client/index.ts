/**
 * A client for programs: `import { createClient } from "rmhdagmaster/client"`. `api` has a method for
 * every route, typed by its contract; the other methods are what most programs need.
 */
import { ApiError } from "../../core/api/api-error.ts";
import type { Client as Api } from "../../core/api/client.ts";
import { createClient as createApi } from "../../core/api/client.ts";
import type { StreamMessage } from "../../core/api/stream.ts";
import { isFinished } from "../../core/model/job.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { followJob } from "../watch/follow-job.ts";

export { ApiError };
export type { JsonObject, StreamMessage };

export interface ClientOptions {
  /** Of the orchestrator, such as http://127.0.0.1:8000. */
  readonly url: string;
  readonly token?: string;
}

export type JobState = Awaited<ReturnType<Api["getJob"]>>;

export interface Job {
  readonly jobId: string;
  state(): Promise<JobState>;
  /** Resolves with the job when it has ended, however it ended. */
  wait(options?: { readonly signal?: AbortSignal }): Promise<JobState>;
  /** A snapshot, then events and progress, up to the end; a broken connection is opened again. */
  watch(options?: { readonly signal?: AbortSignal }): AsyncIterable<StreamMessage>;
  cancel(): Promise<void>;
}

export interface Client {
  readonly api: Api;
  submit(workflow: string, inputs?: JsonObject): Promise<Job>;
  job(jobId: string): Job;
  handlers(): Promise<Awaited<ReturnType<Api["listHandlers"]>>["items"]>;
  workflows(): Promise<Awaited<ReturnType<Api["listWorkflows"]>>["items"]>;
}

export function createClient({ url, token }: ClientOptions): Client {
  const api = createApi({ baseUrl: url, token, fetch });

  function job(jobId: string): Job {
    const params = { job_id: jobId };
    const watch: Job["watch"] = ({ signal = new AbortController().signal } = {}) =>
      followJob({ client: api, jobId, signal });
    return {
      jobId,
      state: () => api.getJob({ params }),
      watch,
      wait: async (options) => {
        const before = await api.getJob({ params });
        if (isFinished(before.status)) return before;
        for await (const message of watch(options)) if (message.type === "end") break;
        return api.getJob({ params });
      },
      cancel: async () => {
        await api.cancelJob({ params, body: {} });
      },
    };
  }

  return {
    api,
    job,
    submit: async (workflow, inputs = {}) =>
      job((await api.submitJob({ body: { workflow_id: workflow, inputs } })).job_id),
    handlers: async () => (await api.listHandlers()).items,
    workflows: async () => (await api.listWorkflows()).items,
  };
}
