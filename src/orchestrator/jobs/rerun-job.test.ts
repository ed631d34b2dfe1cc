import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { TestEngine } from "../../../test/support/engine.ts";
import { temporaryFolders } from "../../../test/support/embedded.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { rerunJob, retryJob } from "./rerun-job.ts";
import { retryNode } from "./retry-node.ts";

describe("retry and rerun with the newest version of the workflow", () => {
  let database: TestDatabase;
  let folder: string;
  let engine: TestEngine;
  const folders = temporaryFolders();

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await folders.make();
    engine = await TestEngine.create(database, folder);
  });

  afterAll(async () => {
    await engine.close();
    await database.drop();
    await folders.remove();
  });

  const write = (id: string, text: string) => writeFile(path.join(folder, `${id}.yaml`), text);

  /** Completes what is queued until nothing is; answers the ids of the nodes that ran. */
  async function work(jobId: string, output: (nodeId: string) => JsonObject = () => ({})) {
    const ran: string[] = [];
    for (;;) {
      const messages = await engine.take(jobId);
      if (messages.length === 0) return ran;
      for (const message of messages) {
        ran.push(message.node_id);
        await engine.complete(message, output(message.node_id));
      }
      await engine.tick();
    }
  }

  const chain = (b: string, c = "handler: echo", a = "handler: echo") =>
    `nodes: { a: { ${a}, next: b }, b: { ${b}, next: c }, c: { ${c} } }`;
  const wrong = 'handler: echo, params: { x: "{{ nodes.a.output.missing }}" }';
  const right = 'handler: echo, params: { x: "{{ nodes.a.output.n }}" }';

  it("saves a job that failed by a mistake in its file", async () => {
    await write("saved", chain(wrong));
    const { job_id } = await engine.submit("saved");
    await work(job_id, () => ({ n: 7 }));
    expect(await engine.job(job_id)).toMatchObject({
      status: "failed",
      error_code: "TEMPLATE_FAILED",
    });
    await write("saved", chain(right));
    const pinned = await retryJob(engine.deps, job_id);
    expect((await engine.job(pinned.job_id)).status).toBe("failed");

    const again = await retryJob(engine.deps, job_id, { latest: true });
    expect(await work(again.job_id)).toEqual(["b", "c"]);
    const [old, fresh] = [await engine.job(job_id), await engine.job(again.job_id)];
    expect(fresh).toMatchObject({ status: "completed", rerun_of: job_id });
    expect(fresh.workflow_hash).not.toBe(old.workflow_hash);
    await engine.expectReplay(again.job_id);
  });

  it("saves a job whose outputs were wrong, and runs nothing again", async () => {
    await write("outputs", `${chain(right)}\noutputs: { y: "{{ nodes.c.output.nothing }}" }`);
    const { job_id } = await engine.submit("outputs");
    await work(job_id, () => ({ n: 1 }));
    expect((await engine.job(job_id)).error_code).toBe("OUTPUTS_FAILED");
    await write("outputs", `${chain(right)}\noutputs: { y: "{{ nodes.c.output.n }}" }`);
    const again = await retryJob(engine.deps, job_id, { latest: true });
    expect(await work(again.job_id)).toEqual([]);
    expect(await engine.job(again.job_id)).toMatchObject({
      status: "completed",
      result_data: { y: 1 },
    });
    await engine.expectReplay(again.job_id);
  });

  it("adds new nodes, drops removed ones and inputs that are no longer declared", async () => {
    await write("grown", `inputs: { old: { default: x } }\n${chain(wrong)}`);
    const { job_id } = await engine.submit("grown");
    await work(job_id, () => ({ n: 1 }));
    await write(
      "grown",
      `inputs: { added: { default: y } }
nodes: { a: { handler: echo, next: [b, d] }, b: { ${right} }, d: { handler: echo } }`,
    );
    const again = await retryJob(engine.deps, job_id, { latest: true });
    expect((await work(again.job_id)).toSorted()).toEqual(["b", "d"]);
    expect((await engine.job(again.job_id)).status).toBe("completed");
    await engine.expectReplay(again.job_id);
  });

  it.each([
    ["handler", chain(right, undefined, "handler: hello_world"), "a"],
    ["params", chain(right, undefined, "handler: echo, params: { m: 1 }"), "a"],
    ["depends_on", `nodes: { z: { handler: echo, next: a }, ${chain(right).slice(9)}`, "z"],
    [
      "type",
      `nodes: { a: { type: fan_in, next: b }, ${chain(right).split("next: b }, ")[1]!}`,
      "a",
    ],
  ])(
    "refuses a kept node whose %s differs, and names a way that works",
    async (key, text, from) => {
      const id = `refused_${key}`;
      await write(id, chain(wrong));
      const { job_id } = await engine.submit(id);
      await work(job_id, () => ({ n: 1 }));
      await write(id, text);
      await expect(retryJob(engine.deps, job_id, { latest: true })).rejects.toMatchObject({
        code: "WORKFLOW_CHANGED",
        message: expect.stringMatching(/run already: a; rerun the job from node "a"/) as string,
        items: [{ pointer: "/nodes/a", message: expect.stringContaining(`"${key}"`) as string }],
      });
      const again = await rerunJob(engine.deps, job_id, { from_node: "a", latest: true });
      await work(again.job_id, () => ({ n: 1 }));
      expect((await engine.statuses(again.job_id))[from]).toBe("completed");
      await engine.expectReplay(again.job_id);
    },
  );

  it("runs an unfinished fan-out with new settings, and again as a whole if its task differs", async () => {
    const fan = (task: string) =>
      `nodes:
  split: { type: fan_out, source: [1, 2, 3], task: { handler: echo, ${task} }, next: join }
  join: { type: fan_in }`;
    await write("fan", fan('params: { x: "{{ item }}" }, retry: { max_attempts: 0 }'));
    const { job_id } = await engine.submit("fan");
    const [first, second] = await engine.take(job_id);
    await engine.complete(first!, {});
    await engine.fail(second!);
    await engine.tick();
    expect((await engine.job(job_id)).status).toBe("failed");

    await write("fan", fan('params: { x: "{{ item }}" }, timeout_seconds: 77'));
    const patient = await retryJob(engine.deps, job_id, { latest: true });
    await engine.tick();
    const messages = await engine.take(patient.job_id);
    expect(messages.map(({ node_id, timeout_seconds }) => [node_id, timeout_seconds])).toEqual([
      ["split__1", 77],
      ["split__2", 77],
    ]);

    await write("fan", fan('params: { y: "{{ item }}" }'));
    const whole = await retryJob(engine.deps, job_id, { latest: true });
    expect((await work(whole.job_id)).length).toBe(3);
    await engine.expectReplay(whole.job_id);
  });

  it("keeps the decision of a conditional, and refuses when its conditions changed", async () => {
    const choice = (condition: string, rest = wrong) =>
      `nodes:
  a: { handler: echo, next: which }
  which: { type: conditional, condition: "${condition}", on_true: b, on_false: other }
  b: { ${rest} }
  other: { handler: echo, params: { v: 1 } }`;
    await write("choice", choice("1 == 1"));
    const { job_id } = await engine.submit("choice");
    await work(job_id, () => ({ n: 1 }));
    await write("choice", choice("1 == 2", right));
    await expect(retryJob(engine.deps, job_id, { latest: true })).rejects.toMatchObject({
      items: [
        { pointer: "/nodes/which", message: expect.stringContaining("conditions") as string },
      ],
    });
    await write("choice", choice("1 == 1", right).replace("v: 1", "v: 2"));
    const again = await retryJob(engine.deps, job_id, { latest: true });
    expect(await work(again.job_id)).toEqual(["b"]);
    expect((await engine.statuses(again.job_id))["other"]).toBe("skipped");
    await engine.expectReplay(again.job_id);
  });

  it("refuses when the file is broken, and needs inputs that became required", async () => {
    await write("later", chain(wrong));
    const { job_id } = await engine.submit("later");
    await work(job_id, () => ({ n: 1 }));
    await write("later", "nodes: [");
    await expect(retryJob(engine.deps, job_id, { latest: true })).rejects.toMatchObject({
      code: "INVALID_WORKFLOW",
    });
    await write("later", `inputs: { who: { required: true } }\n${chain(right)}`);
    await expect(retryJob(engine.deps, job_id, { latest: true })).rejects.toMatchObject({
      code: "INVALID_INPUTS",
    });
    const inputs = { who: "me" };
    const again = await rerunJob(engine.deps, job_id, { from_node: "b", latest: true, inputs });
    expect(await work(again.job_id)).toEqual(["b", "c"]);
  });

  it("tells the first errors of the children where a fan-out failed", async () => {
    await write(
      "children",
      `nodes:
  split:
    type: fan_out
    source: [1, 2, 3, 4, 5]
    on_failure: continue
    task: { handler: echo, retry: { max_attempts: 0 } }`,
    );
    const { job_id } = await engine.submit("children");
    for (const message of await engine.take(job_id)) {
      await engine.fail(message, { code: "NO_CRS", message: `${message.node_id} has no CRS` });
    }
    await engine.tick();
    const { error_message } = await engine.job(job_id);
    expect(error_message).toMatch(
      /^5 of 5 children failed, 0 allowed: split__0 \(NO_CRS: split__0/,
    );
    expect(error_message).toContain("split__2 (NO_CRS: split__2 has no CRS), split__3, split__4");
    const failures = (await engine.events(job_id)).filter(
      ({ event_type, node_id }) => event_type.endsWith("_failed") && node_id === "split",
    );
    expect(failures.map(({ event_type }) => event_type)).toEqual(["node_failed", "job_failed"]);
    for (const { event_data } of failures) {
      expect(event_data).toMatchObject({
        error: {
          message: error_message,
          details: { first_errors: [{ node_id: "split__0", code: "NO_CRS" }, {}, {}] },
        },
      });
    }
    await engine.expectReplay(job_id);
  });

  it("starts the attempt that a node of a running job waits for, and refuses other nodes", async () => {
    const patient = "retry: { max_attempts: 1, backoff: fixed, initial_delay_seconds: 3600 }";
    await write("patient", chain("handler: echo", undefined, `handler: echo, ${patient}`));
    const { job_id } = await engine.submit("patient");
    const [first] = await engine.take(job_id);
    await engine.fail(first!);
    await engine.tick();
    expect(await engine.take(job_id)).toEqual([]);
    await expect(retryNode(engine.deps, job_id, "b")).rejects.toMatchObject({
      code: "TRANSITION_REFUSED",
    });
    expect(await retryNode(engine.deps, job_id, "a")).toMatchObject({ job_id, created: false });
    await engine.tick();
    expect(await work(job_id)).toEqual(["a", "b", "c"]);
    expect((await engine.job(job_id)).status).toBe("completed");
    await engine.expectReplay(job_id);
    // Of a job that has ended, a new job runs the node and those after it.
    const rest = await retryNode(engine.deps, job_id, "b");
    expect(rest.job_id).not.toBe(job_id);
    expect(await work(rest.job_id)).toEqual(["b", "c"]);
  });
});
