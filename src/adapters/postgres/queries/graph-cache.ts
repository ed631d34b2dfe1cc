import { LRUCache } from "lru-cache";
import { compileDefinition } from "../../../core/dag/compile/compile.ts";
import type { Graph } from "../../../core/dag/graph.ts";
import type { WorkflowDefinition } from "../../../core/model/workflow.ts";
import type { Queryable } from "../queryable.ts";

export interface GraphCache {
  /** Undefined: no such version. */
  graphOf(hash: string): Promise<Graph | undefined>;
}

/**
 * Caches compiled graphs by hash. The definition of a hash never changes, so entries cannot be
 * stale.
 */
export function createGraphCache(db: Queryable, size = 200): GraphCache {
  const graphs = new LRUCache<string, Graph>({ max: size });
  return {
    graphOf: async (hash) => {
      const known = graphs.get(hash);
      if (known !== undefined) return known;
      const { rows } = await db.query<{ definition: WorkflowDefinition }>(
        "SELECT definition FROM dagapp.dag_workflow_versions WHERE workflow_hash = $1",
        [hash],
      );
      const row = rows[0];
      if (row === undefined) return undefined;
      const graph = compileDefinition(row.definition);
      graphs.set(hash, graph);
      return graph;
    },
  };
}
