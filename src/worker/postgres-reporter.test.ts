import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase } from "../../test/support/database.ts";
import type { TestDatabase } from "../../test/support/database.ts";
import { waitFor } from "../../test/support/wait.ts";
import { taskOut } from "../../test/support/worker.ts";
import type { Broker, Delivery } from "../adapters/broker/broker.ts";
import { createPostgresBroker } from "../adapters/broker/postgres-broker/create-postgres-broker.ts";
import type { Database } from "../adapters/postgres/database.ts";
import { createLogger } from "../adapters/runtime/logger.ts";
import { taskMessage } from "../core/messages.ts";
import { createPostgresReporter } from "./postgres-reporter.ts";
import type { RunningTask } from "./reporter.ts";

const log = createLogger({ name: "test", level: "silent", format: "json" });
let database: TestDatabase;
let broker: Broker;
let queueCount = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  broker = createPostgresBroker({ db: database.db, url: database.url, holder: "test", log });
});
afterAll(async () => {
  await broker.close();
  await database.drop();
});

/** Takes so many tasks without reporting them. */
async function take(broker: Broker, ...ids: string[]): Promise<RunningTask[]> {
  const queue = `queue-${++queueCount}`;
  await broker.ensureQueue(queue, { leaseMs: 30_000, maxDeliveries: 5 });
  const tasks = ids.map((task_id) => taskOut({ task_id, node_id: task_id, handler: "echo" }));
  await broker.publish(queue, tasks);
  const deliveries: Delivery[] = [];
  await broker.consume(queue, { maxInFlight: ids.length }, (delivery) => {
    deliveries.push(delivery);
    return new Promise(() => undefined);
  });
  await waitFor(() => deliveries.length === ids.length, { what: "all deliveries" });
  return deliveries.map((delivery) => ({
    delivery,
    message: taskMessage.parse(JSON.parse(delivery.body)),
  }));
}

function make() {
  const { db } = database;
  return createPostgresReporter({ db, leaseDb: db, workerId: "w", log });
}

async function resultsOf(ids: readonly string[]) {
  const { rows } = await database.db.query<{ task_id: string; status: string; error: unknown }>(
    `SELECT task_id, status, error FROM dagapp.dag_task_results WHERE task_id = ANY($1)
     ORDER BY task_id`,
    [ids],
  );
  return rows;
}

it("does not lose the other results of a batch to one that the database refuses", async () => {
  const tasks = await take(broker, "r1", "r2", "r3");
  const reporter = make();
  const settled = await Promise.all(
    tasks.map((task, index) =>
      reporter.report(task, {
        status: "completed",
        output: index === 1 ? '{"t":"\\u0000"}' : "{}",
      }),
    ),
  );
  expect(settled).toEqual(["ok", "ok", "ok"]);
  expect(await resultsOf(["r1", "r2", "r3"])).toMatchObject([
    { task_id: "r1", status: "completed" },
    { task_id: "r2", status: "failed", error: { code: "OUTPUT_INVALID" } },
    { task_id: "r3", status: "completed" },
  ]);
});

it("keeps a result while the database is away", async () => {
  let failures = 3;
  const away: Database = {
    ...database.db,
    query: (text, values, name) => {
      if (name === "dag_record_reports" && failures-- > 0) {
        return Promise.reject(new Error("Connection terminated unexpectedly"));
      }
      return database.db.query(text, values, name);
    },
  };
  const { url, db } = database;
  const flaky = createPostgresBroker({ db, leaseDb: away, url, holder: "w", log });
  const [task] = await take(flaky, "away");
  expect(await make().report(task!, { status: "completed", output: "{}" })).toBe("ok");
  expect(failures).toBe(-1);
  expect(await resultsOf(["away"])).toHaveLength(1);
  await flaky.close();
});

it("refuses a checkpoint of a delivery that was taken away, and keeps the newer one", async () => {
  const [task] = await take(broker, "stale");
  const reporter = make();
  expect(await reporter.saveCheckpoint(task!, "one", '{"n":1}')).toBe("ok");
  expect(await reporter.saveCheckpoint(task!, "two", '{"n":2}')).toBe("ok");
  await task!.delivery.release();
  expect(await reporter.saveCheckpoint(task!, "three", '{"n":3}')).toBe("lost");
  expect(await reporter.loadCheckpoint(task!)).toMatchObject({ phase: "two", data: { n: 2 } });
});

it("saves and loads checkpoints when the database is back", async () => {
  const [task] = await take(broker, "checkpointed");
  let failures = 0;
  const failSome = () => {
    if (failures-- > 0) throw new Error("Connection terminated unexpectedly");
  };
  const away: Database = {
    ...database.db,
    query: async (text, values, name) => {
      failSome();
      return database.db.query(text, values, name);
    },
    transaction: async (work, options) => {
      failSome();
      return database.db.transaction(work, options);
    },
  };
  const reporter = createPostgresReporter({ db: away, leaseDb: away, workerId: "w", log });
  failures = 3;
  expect(await reporter.saveCheckpoint(task!, "half", '{"done":1}')).toBe("ok");
  failures = 3;
  expect(await reporter.loadCheckpoint(task!)).toMatchObject({ phase: "half", data: { done: 1 } });
  await reporter.close();
});
