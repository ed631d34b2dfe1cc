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
  /** Assets, page by page; the filters are those of the route. */
  assets(
    filter?: Omit<AssetQuery, "cursor">,
  ): AsyncIterable<Awaited<ReturnType<Api["listAssets"]>>["items"][number]>;
  readonly catalogue: {
    collections(): Promise<Awaited<ReturnType<Api["stacCollections"]>>["collections"]>;
    /** The items that a STAC search finds, at most `limit`. */
    search(filter?: SearchQuery): Promise<Awaited<ReturnType<Api["stacSearch"]>>["features"]>;
  };
}

type AssetQuery = NonNullable<NonNullable<Parameters<Api["listAssets"]>[0]>["query"]>;
type SearchQuery = NonNullable<NonNullable<Parameters<Api["stacSearch"]>[0]>["query"]>;

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
    async *assets(filter = {}) {
      for (let cursor: string | undefined; ;) {
        const page = await api.listAssets({
          query: { ...filter, ...(cursor === undefined ? {} : { cursor }) },
        });
        yield* page.items;
        if (page.next_cursor === null) return;
        cursor = page.next_cursor;
      }
    },
    catalogue: {
      collections: async () => (await api.stacCollections({ query: {} })).collections,
      search: async (filter = {}) => (await api.stacSearch({ query: filter })).features,
    },
  };
}
