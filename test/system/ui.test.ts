import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";

let test: ApiTest;
beforeAll(async () => {
  test = await openApiTest();
});
afterAll(async () => {
  await test.close();
});

const get = (url: string, headers: Record<string, string> = {}) =>
  test.api.server.inject({ url, headers });

describe("the files of the user interface", () => {
  it("are served below /ui, and the root leads there", async () => {
    expect((await get("/")).headers.location).toBe("/ui");
    const page = await get("/ui");
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.body).toContain("<title>");
  });

  it("allow no script and no style from elsewhere or inside the page", async () => {
    const policy = String((await get("/ui")).headers["content-security-policy"]);
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("style-src 'self';");
    expect(policy).not.toContain("unsafe");
  });

  it("answer any address of a page with the page, so that a link into it works", async () => {
    const page = (await get("/ui")).body;
    expect((await get("/ui/jobs/some-job")).body).toBe(page);
    expect((await get("/ui/assets/some-asset")).body).toBe(page);
  });

  it("are kept for ever where the name holds a hash, and asked for anew where it does not", async () => {
    const script = await get("/ui/files/index-4f2a.js");
    expect(script.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const page = await get("/ui");
    expect(page.headers["cache-control"]).toBe("no-cache");
    const again = await get("/ui", { "if-none-match": String(page.headers.etag) });
    expect(again.statusCode).toBe(304);
  });

  it("come packed for who can unpack", async () => {
    const packed = await get("/ui/files/index-4f2a.js", { "accept-encoding": "gzip, br" });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect((await get("/ui/files/index-4f2a.js")).body).toContain("answer = 42");
  });

  it("are nothing else of the disk, and a script of another build is no page", async () => {
    expect((await get("/ui/..%2f..%2fapi.ts")).body).toContain("<title>");
    expect((await get("/ui/files/index-0000.js")).statusCode).toBe(404);
  });
});

describe("a session", () => {
  it("begins with a token, says who it is and what it may, and ends", async () => {
    expect((await get("/api/v1/session")).json()).toEqual({ name: null, access: [] });
    const begun = await test.api.server.inject({
      method: "POST",
      url: "/api/v1/session",
      payload: { token: tokens.reader },
    });
    expect(begun.json()).toEqual({ name: "reader", access: ["read"] });
    const [cookie = ""] = String(begun.headers["set-cookie"]).split(";");
    expect((await get("/api/v1/session", { cookie })).json()).toMatchObject({ name: "reader" });
    const ended = await test.api.server.inject({ method: "DELETE", url: "/api/v1/session" });
    expect(ended.headers["set-cookie"]).toMatch(/^rmhdag_session=;.*Max-Age=0/);
  });

  it("does not begin with a wrong token", async () => {
    const refused = await test.api.server.inject({
      method: "POST",
      url: "/api/v1/session",
      payload: { token: "wrong" },
    });
    expect(refused.statusCode).toBe(401);
    expect(refused.headers["set-cookie"]).toBeUndefined();
  });
});

describe("what the pages count", () => {
  it("counts the jobs that a filter finds, by state", async () => {
    const { job_id } = await test.operator.submitJob({ body: { workflow_id: "hello_world" } });
    await test.operator.cancelJob({ params: { job_id } });
    await test.operator.submitJob({ body: { workflow_id: "echo_test" } });
    expect(await test.reader.countJobs()).toMatchObject({ total: 2 });
    expect(await test.reader.countJobs({ query: { workflow_id: "echo_test" } })).toEqual({
      total: 1,
      pending: 0,
      running: 1,
      completed: 0,
      failed: 0,
      cancelled: 0,
    });
  });

  it("shows the last runs of a workflow with their nodes, and refuses an unknown one", async () => {
    const { items } = await test.reader.listWorkflowRuns({ params: { workflow_id: "echo_test" } });
    expect(items).toHaveLength(1);
    expect(items[0]!.nodes.map(({ node_id }) => node_id).sort()).toEqual([
      "echo_handler",
      "end",
      "start",
    ]);
    await expect(
      test.reader.listWorkflowRuns({ params: { workflow_id: "none" } }),
    ).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  });
});
