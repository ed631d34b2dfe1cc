/**
 * Children of a fan-out in the order of their index. A child is named by its fan-out and its index (`childNodeId`),
 * so its row is found by the primary key, and no index of its own is needed.
 */

interface Range {
  /** SQL of the job's id, and of the fan-out's. */
  readonly job: string;
  readonly fanOut: string;
  /** SQL of the first index, and of the one behind the last. */
  readonly from: string;
  readonly to: string;
}

/**
 * Writes what stands behind FROM: the children as `n`, in order. Under a LIMIT no more rows are read than are
 * answered: a series in a SELECT list is made as it is read, and OFFSET 0 leaves PostgreSQL no plan but to search
 * one child after the other.
 */
export function childrenByIndex({ job, fanOut, from, to }: Range): string {
  return `(
    SELECT ${fanOut} || '__' || generate_series(${from}, ${to} - 1) AS node_id) AS child
  CROSS JOIN LATERAL (
    SELECT * FROM dagapp.dag_node_states
    WHERE job_id = ${job} AND node_id = child.node_id OFFSET 0) AS n`;
}

/** SQL of how many children of a fan-out have a row. */
export function createdChildren(job: string, fanOut: string): string {
  return `(SELECT coalesce(fan_out ->> 'created', fan_out ->> 'total')::int
    FROM dagapp.dag_node_states WHERE job_id = ${job} AND node_id = ${fanOut})`;
}
