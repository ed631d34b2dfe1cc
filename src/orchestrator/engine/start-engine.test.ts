import { expect, it } from "vitest";
import { createTestDatabase } from "../../../test/support/database.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { createLogger } from "../../adapters/runtime/logger.ts";
import { startEngine } from "./start-engine.ts";

const settings = {
  pollSeconds: 0.05,
  heartbeatSeconds: 60,
  orphanThresholdSeconds: 180,
  orphanScanSeconds: 60,
  recoverSeconds: 60,
  messageLostSeconds: 300,
};

it("counts no tick that got no lock on the jobs, so that readiness sees that the engine stalls", async () => {
  const folders = temporaryFolders();
  const database = await createTestDatabase();
  const own = await TestEngine.create(database, await folders.make());
  const log = createLogger({ name: "test", level: "silent", format: "json" });
  const engine = await startEngine(
    own.deps,
    settings,
    () => ({ close: () => Promise.resolve() }),
    log,
  );
  await waitFor(() => engine.status().last_tick_at, { what: "the first tick" });
  await database.db.transaction(async (session) => {
    await session.query("LOCK TABLE dagapp.dag_jobs IN ACCESS EXCLUSIVE MODE");
    const before = engine.status().last_tick_at;
    // The first tick that meets the lock starts to skip locked jobs, and the next one fails.
    await waitFor(() => engine.status().last_error, { what: "the tick that failed" });
    expect(engine.status()).toMatchObject({
      last_tick_at: before,
      last_error: "canceling statement due to lock timeout",
    });
  });
  await engine.stop();
  await own.close();
  await database.drop();
  await folders.remove();
});
