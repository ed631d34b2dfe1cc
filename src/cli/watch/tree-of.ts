import type { Client } from "../../core/api/client.ts";
import type { Job } from "../../core/api/job-schemas.ts";
import type { TreeRow } from "./arrange-nodes.ts";
import { arrangeNodes } from "./arrange-nodes.ts";

/** In the order of the version that this job runs; as the job lists them if it cannot be had. */
export async function treeOf(client: Client, job: Job): Promise<TreeRow[]> {
  const { workflow_id, workflow_hash } = job;
  try {
    const { graph } = await client.getWorkflowVersion({ params: { workflow_id, workflow_hash } });
    return arrangeNodes(graph);
  } catch {
    return job.nodes
      .filter(({ parent_node_id: parent }) => parent === null)
      .map(({ node_id: nodeId }) => ({ nodeId, lead: "" }));
  }
}
