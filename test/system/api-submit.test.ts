import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/core/api/client.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest } from "../support/api.ts";
import { waitFor } from "../support/wait.ts";

let test: ApiTest;
let client: Client;
beforeAll(async () => {
  test = await openApiTest();
  client = test.operator;
});
afterAll(() => test.close());

const hello = { workflow_id: "hello_world", inputs: {} };

describe("many jobs in one request", () => {
  it("have an outcome each, in the order given", async () => {
    const jobs = [
      { ...hello, idempotency_key: "first" },
      { workflow_id: "nowhere" },
      { workflow_id: "echo_test", inputs: { message: 7 } },
      { ...hello, idempotency_key: "first" },
    ];
    const answer = await client.submitJobs({ body: { jobs } });
    expect(answer).toMatchObject({
      accepted: 2,
      refused: 2,
      items: [
        { index: 0, outcome: "accepted", job: { created: true, status: "running" } },
        { index: 1, outcome: "refused", problem: { code: "WORKFLOW_NOT_FOUND", status: 404 } },
        { index: 2, outcome: "refused", problem: { code: "INVALID_INPUTS" } },
        { index: 3, outcome: "accepted", job: { created: false } },
      ],
    });
    const [first, , , last] = answer.items;
    expect(first?.outcome === "accepted" && first.job.job_id).toBe(
      last?.outcome === "accepted" && last.job.job_id,
    );
  });

  it("are not begun when the body is malformed anywhere", async () => {
    const { items: before } = await client.listJobs({ query: {} });
    const jobs = [hello, { ...hello, priority: 11 }];
    await expect(client.submitJobs({ body: { jobs } })).rejects.toMatchObject({
      code: "BAD_REQUEST",
      items: [{ pointer: "/jobs/1/priority" }],
    });
    const { items: after } = await client.listJobs({ query: {} });
    expect(after).toHaveLength(before.length);
  });
});

describe("a submission that waits", () => {
  it("is answered when the job has ended, with how it ended", async () => {
    // Jobs of other tests run as well: this one is known by its name.
    const correlation_id = "waits-for-its-end";
    const waiting = client.submitJob({ body: { ...hello, correlation_id }, query: { wait: 60 } });
    const message = await waitFor(
      async () => {
        const { items } = await client.listJobs({ query: { status: "running", correlation_id } });
        const [job] = items;
        return job && (await test.engine.take(job.job_id))[0];
      },
      { what: "the task of the job" },
    );
    await test.engine.complete(message, { greeting: "hello" });
    await test.engine.tick();
    expect(await waiting).toMatchObject({ job_id: message.job_id, status: "completed" });
  });

  it("is answered after its time when the job still runs", async () => {
    const answer = await client.submitJob({ body: hello, query: { wait: 1 } });
    expect(answer).toMatchObject({ created: true, status: "running" });
  });

  it("waits for a minute at most", async () => {
    const long = client.submitJob({ body: hello, query: { wait: 61 } });
    await expect(long).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});
