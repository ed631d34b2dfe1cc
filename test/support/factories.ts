/** Inserts rows in any state, for tests of code that only reads. Every value has a default. */
import { randomBytes } from "node:crypto";
import type { Database } from "../../src/adapters/postgres/database.ts";
import type { Transaction } from "../../src/adapters/postgres/queryable.ts";
import { hashDefinition } from "../../src/adapters/workflow-files/hash-definition.ts";
import type { Graph } from "../../src/core/dag/graph.ts";
import { isImplicit } from "../../src/core/dag/implicit-nodes.ts";

type Values = Readonly<Record<string, unknown>>;

export function makeFactory(db: Database) {
  async function insert(table: string, values: Values): Promise<void> {
    const columns = Object.keys(values);
    const places = columns.map((_, index) => `$${index + 1}`);
    await db.query(
      `INSERT INTO dagapp.${table} (${columns.join(", ")}) VALUES (${places.join(", ")})`,
      Object.values(values).map(toParameter),
    );
  }

  return {
    insert,

    async workflow(graph: Graph, source: string | null = null): Promise<string> {
      const { definition } = graph;
      const hash = hashDefinition(definition);
      await db.query(
        `INSERT INTO dagapp.dag_workflow_versions
           (workflow_hash, workflow_id, version, definition, source)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
        [hash, definition.workflow_id, definition.version, JSON.stringify(definition), source],
      );
      await db.query(
        `INSERT INTO dagapp.dag_workflows (workflow_id, workflow_hash) VALUES ($1, $2)
         ON CONFLICT (workflow_id) DO UPDATE SET workflow_hash = excluded.workflow_hash`,
        [definition.workflow_id, hash],
      );
      return hash;
    },

    /** A job with every static node of its graph as pending, unless `nodes` says otherwise. */
    async job(graph: Graph, values: Values = {}, nodes: Readonly<Record<string, Values>> = {}) {
      const hash = hashDefinition(graph.definition);
      const job_id = `job_${randomBytes(6).toString("hex")}`;
      const row: Record<string, unknown> = {
        job_id,
        workflow_id: graph.definition.workflow_id,
        workflow_hash: hash,
        workflow_version: graph.definition.version,
        status: "running",
        nodes_total: graph.nodes.length,
        nodes_unsettled: graph.nodes.length,
        ...values,
      };
      const status = row["status"];
      if (status !== "pending" && status !== "cancelled") row["started_at"] ??= new Date();
      if (status === "completed") row["nodes_unsettled"] = 0;
      if (status === "failed") row["error_message"] ??= "it broke";
      if (status === "cancelled") row["cancel_requested_at"] ??= new Date();
      if (["completed", "failed", "cancelled"].includes(String(status))) {
        row["completed_at"] ??= new Date();
      }
      await insert("dag_jobs", row);
      for (const node of graph.nodes) {
        if (isImplicit(node.id)) continue;
        await this.node(String(row["job_id"]), node.id, {
          node_type: node.type,
          ...(node.type === "task"
            ? { handler: node.definition.handler, queue: node.definition.queue }
            : {}),
          ...nodes[node.id],
        });
      }
      return String(row["job_id"]);
    },

    async node(job_id: string, node_id: string, values: Values = {}): Promise<void> {
      const row: Record<string, unknown> = { job_id, node_id, node_type: "task", ...values };
      const status = row["status"];
      if (["completed", "failed", "skipped", "cancelled"].includes(String(status))) {
        row["completed_at"] ??= new Date();
      }
      if (status === "failed") {
        row["error"] ??= { code: "BROKEN", message: "it broke", category: "permanent" };
      }
      if (status === "dispatched") row["task_id"] ??= `${job_id}_${node_id}_0`;
      await insert("dag_node_states", row);
    },

    /** The next event of a job, as the engine writes it: with the job's counter, and a notification. */
    event: (job_id: string, event_type: string, values: Values = {}): Promise<number> =>
      db.transaction((tx) => writeEvent(tx, job_id, event_type, values)),

    /** The end of a job: its status and its last event in one transaction, as the engine writes them. */
    completion: (job_id: string): Promise<number> =>
      db.transaction(async (tx) => {
        await tx.query(
          `UPDATE dagapp.dag_jobs SET status = 'completed', nodes_unsettled = 0, completed_at = now()
           WHERE job_id = $1`,
          [job_id],
        );
        return writeEvent(tx, job_id, "job_completed", { event_status: "success" });
      }),

    async result(job_id: string, node_id: string, attempt: number, values: Values = {}) {
      const status = values["status"] ?? "completed";
      await insert("dag_task_results", {
        task_id: `${job_id}_${node_id}_${attempt}`,
        job_id,
        node_id,
        status,
        ...(status === "completed"
          ? { output: {} }
          : { error: { code: "BROKEN", message: "it broke", category: "transient" } }),
        ...values,
      });
    },

    /** A worker holds the node's message. */
    async lease(job_id: string, node_id: string, values: Values = {}): Promise<void> {
      await insert("dag_queue_leases", {
        message_id: randomBytes(4).readUInt32BE(),
        queue: "functionapp-tasks",
        priority: 0,
        deliveries: 1,
        released: 0,
        message_key: `${job_id}_${node_id}_0`,
        group_key: job_id,
        body: "{}",
        enqueued_at: new Date(),
        holder: "worker-1",
        until: new Date(Date.now() + 60_000),
        ...values,
      });
    },

    async worker(worker_id: string, values: Values = {}): Promise<void> {
      await insert("dag_workers", {
        worker_id,
        host: "here",
        pid: 1,
        version: "1",
        queues: ["functionapp-tasks"],
        slots: 4,
        ...values,
      });
    },
  };
}

async function writeEvent(
  tx: Transaction,
  job_id: string,
  event_type: string,
  values: Values,
): Promise<number> {
  const { rows } = await tx.query<{ event_seq: number }>(
    "UPDATE dagapp.dag_jobs SET event_seq = event_seq + 1 WHERE job_id = $1 RETURNING event_seq",
    [job_id],
  );
  const seq = rows[0]!.event_seq;
  const row = { job_id, seq, event_type, ...values };
  const columns = Object.keys(row);
  await tx.query(
    `INSERT INTO dagapp.dag_job_events (${columns.join(", ")})
     VALUES (${columns.map((_, index) => `$${index + 1}`).join(", ")})`,
    Object.values(row).map(toParameter),
  );
  await tx.query("SELECT pg_notify('dag_events', '')");
  return seq;
}

/** Objects are jsonb columns, lists of text are text[]. */
function toParameter(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Array.isArray(value) ? value : JSON.stringify(value);
}
