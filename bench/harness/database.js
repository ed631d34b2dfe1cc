/** A fresh database for every cell, and what the server counted while it ran. */
import pg from "pg";

const watchRole = "bench_watch";

export async function openAdmin(url) {
  const client = new pg.Client({ connectionString: url, application_name: "bench" });
  await client.connect();
  const run = async (text, values) => (await client.query(text, values)).rows;
  for (const name of ["fsync", "synchronous_commit", "full_page_writes"]) {
    const [row] = await run(`SHOW ${name}`);
    if (row[name] !== "on") throw new Error(`${name} is ${row[name]}: it must be on for everybody`);
  }
  await run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").catch((cause) => {
    throw new Error("The server must preload pg_stat_statements.", { cause });
  });
  await run(`DROP ROLE IF EXISTS ${watchRole}`);
  await run(`CREATE ROLE ${watchRole} SUPERUSER LOGIN PASSWORD '${watchRole}'`);

  function urlsOf(name) {
    const databaseUrl = at(url, name);
    const watch = new URL(databaseUrl);
    watch.username = watchRole;
    watch.password = watchRole;
    return { databaseUrl, watchUrl: watch.href };
  }

  return {
    run,
    async version() {
      return (await run("SHOW server_version"))[0].server_version;
    },
    /** Checkpointed, so that no cell pays for the pages that another one has dirtied. */
    async create(name) {
      await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await run(`CREATE DATABASE ${name}`);
      await run("CHECKPOINT");
      return urlsOf(name);
    },
    urls: urlsOf,
    drop: (name) => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    async reset() {
      await run("SELECT pg_stat_statements_reset()");
    },
    /** Write transactions are xids: read-only ones commit without a flush and without WAL. */
    async counters() {
      const [row] = await run(
        `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal,
                pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS xids`,
      );
      return row;
    },
    /** What clients sent: the server's own checks of foreign keys are counted as statements too. */
    async statements(name) {
      const [row] = await run(
        `SELECT coalesce(sum(calls), 0)::float8 AS calls FROM pg_stat_statements
          WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
            AND userid <> (SELECT oid FROM pg_roles WHERE rolname = $2)
            AND query NOT LIKE 'SELECT 1 FROM ONLY %'`,
        [name, watchRole],
      );
      return row.calls;
    },
    /** Pages that clients' statements looked at: the same on a busy machine as on an idle one. */
    async pages(name) {
      const [row] = await run(
        `SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8 AS pages
           FROM pg_stat_statements
          WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
            AND userid <> (SELECT oid FROM pg_roles WHERE rolname = $2)`,
        [name, watchRole],
      );
      return row.pages;
    },
    async bytes(name) {
      const [row] = await run("SELECT pg_database_size($1)::float8 AS bytes", [name]);
      return row.bytes;
    },
    topStatements: (name) =>
      run(
        `SELECT calls::float8, total_exec_time AS ms, (shared_blks_hit + shared_blks_read)::float8 AS pages, rows::float8, wal_bytes::float8 AS wal,
                regexp_replace(query, '\\s+', ' ', 'g') AS query
           FROM pg_stat_statements
          WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
            AND userid <> (SELECT oid FROM pg_roles WHERE rolname = $2)
          ORDER BY total_exec_time DESC LIMIT 15`,
        [name, watchRole],
      ),
    close: () => client.end(),
  };
}

/** What autovacuum would do within a minute or two. No checkpoint: after one, each page is logged whole. */
export function analyse(databaseUrl) {
  return runAlone(databaseUrl, "VACUUM (ANALYZE)");
}

/** Gives the room of removed rows at the end of a table back to the disk. */
export function vacuum(databaseUrl) {
  return runAlone(databaseUrl, "VACUUM");
}

async function runAlone(databaseUrl, statement) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

function at(url, database) {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}
