/**
 * A database that has done much already. One real job is run, and its rows are copied under other
 * job ids: so the history looks as the engine writes it, whatever columns the tables have.
 */
import pg from "pg";

/** Copies in a transaction: all of them at once would hold their WAL and their snapshot for minutes. */
const step = 100;
const tables = ["dag_jobs", "dag_node_states", "dag_task_results", "dag_job_events"];

/** With `days` the copies end one after the other within so many days until now. */
export async function fillHistory(url, nodes, { days = 0 } = {}) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: jobs } = await client.query(
      `SELECT job_id, count(*)::integer AS nodes FROM dagapp.dag_node_states
        WHERE job_id NOT IN (SELECT md5('copy ' || copy) FROM generate_series(1, $1::integer) AS copy)
        GROUP BY job_id ORDER BY count(*) DESC LIMIT 1`,
      [Math.ceil(nodes / 100)],
    );
    const [{ job_id: model, nodes: each }] = jobs;
    const copies = Math.ceil(nodes / each);
    // The model passed all triggers when it was written, and its copies differ in their ids alone.
    await client.query("SET session_replication_role = replica");
    await client.query("SET synchronous_commit = off");
    const inserts = [];
    for (const table of tables) {
      const columns = await columnsOf(client, table);
      const copied = columns.map((name) => {
        if (["job_id", "task_id"].includes(name))
          return `replace(${name}, $1, md5('copy ' || copy))`;
        if (days === 0 || !name.endsWith("_at")) return name;
        return `${name} - make_interval(secs => ${days} * 86400.0 * (${copies} - copy) / ${copies})`;
      });
      inserts.push(
        `INSERT INTO dagapp.${table} (${columns.join(", ")})
         SELECT ${copied.join(", ")} FROM generate_series($2::integer, $3::integer) AS copy
           CROSS JOIN dagapp.${table} WHERE job_id = $1`,
      );
    }
    for (let from = await firstMissing(client, copies); from <= copies; from += step) {
      await client.query("BEGIN");
      for (const text of inserts) {
        await client.query(text, [model, from, Math.min(copies, from + step - 1)]);
      }
      await client.query("COMMIT");
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

/** A run that was stopped goes on where it was. */
async function firstMissing(client, copies) {
  const { rows } = await client.query(
    `SELECT coalesce(min(copy), $1 + 1)::integer AS first FROM generate_series(1, $1::integer) AS copy
      WHERE NOT EXISTS (SELECT FROM dagapp.dag_jobs WHERE job_id = md5('copy ' || copy))`,
    [copies],
  );
  return rows[0].first;
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
