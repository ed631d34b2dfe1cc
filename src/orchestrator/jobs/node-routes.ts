import { z } from "zod";
import { decodeCursor, encodeCursor } from "../../adapters/http/cursor.ts";
import type { Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { Queryable } from "../../adapters/postgres/queryable.ts";
import type { GraphCache } from "../../adapters/postgres/queries/graph-cache.ts";
import { readAttempts, readCheckpoints } from "../../adapters/postgres/queries/history.ts";
import { describeNodes, readJobNodes } from "../../adapters/postgres/queries/job-nodes.ts";
import type { JobWithoutNodes } from "../../adapters/postgres/queries/jobs.ts";
import {
  readNodeData,
  findNode,
  listNodes,
  readChildren,
} from "../../adapters/postgres/queries/nodes.ts";
import type { NodeRow } from "../../adapters/postgres/queries/node-rows.ts";
import { toNodeColumns } from "../../adapters/postgres/queries/node-rows.ts";
import { listTasks } from "../../adapters/postgres/queries/tasks.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { NodeSummary } from "../../core/api/job-schemas.ts";
import type { nodeContracts } from "../../core/api/nodes.ts";
import { Problem } from "../../core/errors.ts";
import { parentOfChild, taskId } from "../../core/model/node.ts";
import { openJob, requireNode } from "./find-job.ts";
import { percentOf } from "./progress.ts";
import { serveOutput, serveParams } from "./serve-values.ts";
import { hiddenOf, hide, showNodeValues } from "./show-values.ts";

const timestamp = z.string().regex(/^\d{4}-[\d:. +-]+$/);
const index = z.tuple([z.number().int().min(0)]);
const nodePlace = z.tuple([timestamp, z.string().max(64), z.string().max(80)]);
const taskPlace = z.tuple([
  timestamp,
  z.string().max(64),
  z.string().max(160),
  z.string().max(255),
]);

interface NodeRouteDeps {
  readonly db: Database;
  readonly graphs: GraphCache;
  readonly storage: Storage;
}

export function nodeRoutes(deps: NodeRouteDeps): Omit<Handlers<typeof nodeContracts>, "retryNode"> {
  const { graphs } = deps;

  /** The state of a child depends on its fan-out, so the row of the fan-out is read too. */
  async function describe(db: Queryable, job: JobWithoutNodes, row: NodeRow): Promise<NodeSummary> {
    const parent = row.parent_node_id && (await findNode(db, job.job_id, row.parent_node_id));
    if (row.parent_node_id === null) {
      const all = await readJobNodes(db, job, await graphs.graphOf(job.workflow_hash));
      const found = all.find(({ node_id }) => node_id === row.node_id);
      if (found !== undefined) return found;
    }
    const graph = await graphs.graphOf(job.workflow_hash);
    const [node] = await describeNodes(db, job, graph, [row], parent ? [parent] : []);
    return node ?? { ...toNodeColumns(row), wait_reason: null, children: null };
  }

  return {
    listJobNodes: async ({ params: { job_id }, query: { parent, status, limit, cursor } }) => {
      const after = decodeCursor(cursor, index)?.[0];
      const wanted = parent === undefined ? {} : { children: parent };
      const { job, db, archivedAt } = await openJob(deps, job_id, wanted);
      const graph = await graphs.graphOf(job.workflow_hash);
      if (parent === undefined) {
        const nodes = await readJobNodes(db, job, graph);
        const kept = nodes.filter((node) => status === undefined || node.status === status);
        const from = after ?? 0;
        const next = from + limit < kept.length ? encodeCursor([from + limit]) : null;
        return { items: kept.slice(from, from + limit), next_cursor: next };
      }
      const fanOut = await findNode(db, job_id, parent);
      if (fanOut?.node_type !== "fan_out") {
        throw new Problem("NODE_NOT_FOUND", `Job "${job_id}" has no fan-out "${parent}".`);
      }
      const isArchived = archivedAt !== undefined;
      const page = await readChildren(db, job_id, { parent, status, after, isArchived }, limit);
      const items = await describeNodes(db, job, graph, page.nodes, [fanOut]);
      return { items, next_cursor: page.next === null ? null : encodeCursor([page.next]) };
    },

    getNode: async ({ params: { job_id, node_id } }) => {
      const children = parentOfChild(node_id)?.node_id ?? "";
      const opened = await openJob(deps, job_id, { history: "results", children });
      const { job, db } = opened;
      const node = await requireNode({ db, graphs }, job, node_id);
      // The id of a task is made of job, node and attempt, so that no query has to find the ids.
      const ids = Array.from({ length: node.attempt + 2 }, (_, n) => taskId(job_id, node_id, n));
      const [summary, data, attempts, saved, hidden] = await Promise.all([
        describe(db, job, node),
        readNodeData(db, node),
        readAttempts(db, job_id, node_id, ids),
        readCheckpoints(db, job_id, node_id),
        hiddenOf({ db, graphs }, job, node_id),
      ]);
      const values = showNodeValues(hidden, job_id, node_id, data);
      const checkpoints = saved.map((each) => ({ ...each, data: hide(hidden, each.data) }));
      const logs = `/api/v1/jobs/${encodeURIComponent(job_id)}/logs?node_id=${encodeURIComponent(node_id)}`;
      return { ...summary, job_id, ...data, ...values, attempts, checkpoints, logs };
    },

    getNodeOutput: ({ params: { job_id, node_id } }) => serveOutput(deps, job_id, node_id),
    getNodeParams: ({ params: { job_id, node_id } }) => serveParams(deps, job_id, node_id),

    getNodeProgress: async ({ params: { job_id, node_id } }) => {
      const parent = parentOfChild(node_id)?.node_id ?? "";
      const { job, db } = await openJob(deps, job_id, { children: parent });
      const node = await requireNode({ db, graphs }, job, node_id);
      const summary = await describe(db, job, node);
      const { status, children, task_id, worker_id, started_at, progress } = summary;
      const isLeased = status === "running" && task_id !== null && worker_id !== null;
      const task =
        isLeased && started_at !== null
          ? {
              node_id,
              task_id,
              worker_id,
              started_at,
              progress_percent: progress?.percent ?? null,
              progress_message: progress?.message ?? null,
            }
          : null;
      return { job_id, node_id, status, percent: percentOf(summary), task, children };
    },

    listNodes: async ({ query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, nodePlace);
      const { nodes, next } = await listNodes(
        deps.db,
        filter,
        limit,
        after && { created_at: after[0], job_id: after[1], node_id: after[2] },
      );
      const items = nodes.map((row) => {
        const { job_id, workflow_id, job_status } = row;
        return { ...toNodeColumns(row), job_id, workflow_id, job_status };
      });
      const cursorNext = next && encodeCursor([next.created_at, next.job_id, next.node_id]);
      return { items, next_cursor: cursorNext };
    },

    listTasks: async ({ query: { limit, cursor, ...filter } }) => {
      const after = decodeCursor(cursor, taskPlace);
      const { tasks, next } = await listTasks(
        deps.db,
        filter,
        limit,
        after && {
          created_at: after[0],
          job_id: after[1],
          node_id: after[2],
          task_id: after[3],
        },
      );
      const place = next && [next.created_at, next.job_id, next.node_id, next.task_id];
      return { items: tasks, next_cursor: place && encodeCursor(place) };
    },
  };
}
