import type { JsonObject } from "../../../core/model/json.ts";
import { childNodeId, taskId } from "../../../core/model/node.ts";
import type { NodeRow } from "./nodes.ts";
import type { TaskResultRow } from "./work.ts";

/**
 * Nearly all results are of a current attempt that completed. They are told as text with separators,
 * which JSON never contains and an id only by mischief, because making an object of a row takes
 * PostgreSQL 10 of the 25 µs that a result costs here, and reading it takes longer as well.
 */
const [field, record] = ["\x1f", "\x1e"];
export const plainText = `CASE WHEN node.parent_node_id IS NULL
    THEN i.seq || f || r.job_id || f || r.node_id || f || node.attempt || f || '' || f
      || coalesce(r.worker_id, '') || f || coalesce(r.started_at::text, '') || f || r.output
    ELSE i.seq || f || r.job_id || f || node.parent_node_id || f || node.attempt || f
      || node.fan_out_index || f || node.retry_count || f || node.throttle_count END`;
export const isPlain = `r.status = 'completed' AND node.status = 'dispatched'
    AND r.task_id = r.job_id || '_' || r.node_id || '_' || node.attempt
    AND strpos(r.task_id || coalesce(r.worker_id, ''), f) = 0
    AND strpos(r.task_id || coalesce(r.worker_id, ''), E'\\x1e') = 0`;

export function readPlain(text: string | null): TaskResultRow[] {
  if (text === null) return [];
  return text.split(record).map((line) => {
    const [seq, job_id, named, attempt, index, one, two, output] = line.split(field);
    return output === undefined
      ? plainChild(seq, job_id, named, attempt, index, one, two)
      : plainNode(seq, job_id, named, attempt, one, two, output);
  });
}

type Text = string | undefined;

function plainNode(
  seq: Text,
  job_id = "",
  node_id = "",
  attempt: Text,
  worker: Text,
  started: Text,
  output: string,
): TaskResultRow {
  return {
    seq: Number(seq),
    task_id: taskId(job_id, node_id, Number(attempt)),
    job_id,
    node_id,
    status: "completed",
    output: JSON.parse(output) as JsonObject,
    error: null,
    worker_id: worker === "" || worker === undefined ? null : worker,
    started_at: started === "" || started === undefined ? null : started,
    child: null,
  };
}

function plainChild(
  seq: Text,
  job_id = "",
  parent_node_id = "",
  attempt: Text,
  index: Text,
  retries: Text,
  throttles: Text,
): TaskResultRow {
  const fan_out_index = Number(index);
  const node_id = childNodeId(parent_node_id, fan_out_index);
  const tries = Number(attempt);
  const child: NodeRow = {
    job_id,
    node_id,
    status: "dispatched",
    attempt: tries,
    retry_count: Number(retries),
    throttle_count: Number(throttles),
    retry_at_ms: null,
    output: null,
    input_params: null,
    error: null,
    fan_out: null,
    parent_node_id,
    fan_out_index,
  };
  return {
    seq: Number(seq),
    task_id: taskId(job_id, node_id, tries),
    job_id,
    node_id,
    status: "completed",
    output: null,
    error: null,
    worker_id: null,
    started_at: null,
    child,
  };
}
