/**
 * A database that has done much already. One real job is run, and its rows are copied under other
 * job ids: so the history looks as the engine writes it, whatever columns the tables have.
 */
import pg from "pg";

const step = 1000;
const tables = ["dag_jobs", "dag_node_states", "dag_task_results", "dag_job_events"];

/** With `days` the copies end one after the other within so many days until now. */
export async function fillHistory(url, nodes, { days = 0 } = {}) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: jobs } = await client.query(
      `SELECT job_id, count(*)::integer AS nodes FROM dagapp.dag_node_states
        GROUP BY job_id ORDER BY count(*) DESC LIMIT 1`,
    );
    const [{ job_id: model, nodes: each }] = jobs;
    const copies = Math.ceil(nodes / each);
    // The model passed all triggers when it was written, and its copies differ in their ids alone.
    await client.query("SET session_replication_role = replica");
    await client.query("SET synchronous_commit = off");
    for (const table of tables) {
      const columns = await columnsOf(client, table);
      const copied = columns.map((name) => {
        if (["job_id", "task_id"].includes(name))
          return `replace(${name}, $1, md5('copy ' || copy))`;
        if (days === 0 || !name.endsWith("_at")) return name;
        return `${name} - make_interval(secs => ${days} * 86400.0 * (${copies} - copy) / ${copies})`;
      });
      // In steps: an INSERT of everything would hold its WAL and its snapshot for minutes.
      for (let from = 1; from <= copies; from += step) {
        await client.query(
          `INSERT INTO dagapp.${table} (${columns.join(", ")})
           SELECT ${copied.join(", ")}
             FROM generate_series(${from}, ${Math.min(copies, from + step - 1)}) AS copy
             CROSS JOIN dagapp.${table} WHERE job_id = $1`,
          [model],
        );
      }
    }
    await client.query("VACUUM (ANALYZE)");
    const { rows } = await client.query(
      "SELECT count(*)::integer AS nodes FROM dagapp.dag_node_states",
    );
    return rows[0].nodes;
  } finally {
    await client.end();
  }
}

async function columnsOf(client, table) {
  const { rows } = await client.query(
    `SELECT column_name FROM information_schema.columns
      WHERE table_schema = 'dagapp' AND table_name = $1
        AND is_identity = 'NO' AND is_generated = 'NEVER'
      ORDER BY ordinal_position`,
    [table],
  );
  return rows.map(({ column_name }) => column_name);
}
