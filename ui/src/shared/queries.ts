/** Queries that more than one component reads: the same key means one request and one cache entry. */
import { queryOptions } from "@tanstack/react-query";
import { api } from "./api.ts";

export const queuesQuery = queryOptions({
  queryKey: ["queues"],
  queryFn: ({ signal }) => api.getQueues({ signal }),
  refetchInterval: 3000,
});

export const orchestratorsQuery = queryOptions({
  queryKey: ["orchestrators"],
  queryFn: ({ signal }) => api.listOrchestrators({ signal }),
});

export const platformsQuery = queryOptions({
  queryKey: ["platforms"],
  queryFn: ({ signal }) => api.listPlatforms({ signal }),
});

export const workflowQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ["workflow", workflowId],
    queryFn: ({ signal }) => api.getWorkflow({ params: { workflow_id: workflowId }, signal }),
  });

/** The hash names the content, so a version never changes. */
export const workflowVersionQuery = (workflowId: string, hash: string) =>
  queryOptions({
    queryKey: ["workflow", workflowId, "version", hash],
    queryFn: ({ signal }) =>
      api.getWorkflowVersion({
        params: { workflow_id: workflowId, workflow_hash: hash },
        signal,
      }),
    staleTime: Infinity,
  });

export const assetQuery = (assetId: string) =>
  queryOptions({
    queryKey: ["asset", assetId],
    queryFn: ({ signal }) => api.getAsset({ params: { asset_id: assetId }, signal }),
    refetchInterval: 5000,
  });
