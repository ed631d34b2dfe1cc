import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest } from "../../../test/support/api.ts";
import { makeWorkflowFolder, signingKey } from "../../../test/support/domain.ts";
import { parseNetworks } from "../../adapters/net/check-address.ts";
import type { DeliveryDeps } from "./deliver-callbacks.ts";
import { deliverCallbacks } from "./deliver-callbacks.ts";

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
let server: Server;
let host: string;
let answerWith = 200;
const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
let deps: DeliveryDeps;

beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  await test.storage.put("bronze/ddh/a.tif", new Uint8Array([1]));
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      seen.push({ headers: request.headers, body });
      response.writeHead(answerWith).end("thank you");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const params = { platform_id: "ddh" };
  const { row_version } = await test.reader.getPlatform({ params });
  await test.operator.putPlatform({
    params,
    headers: { "if-match": `"${row_version}"` },
    body: {
      display_name: "Data Distribution Hub",
      required_refs: ["dataset_id", "resource_id"],
      version_ref: "version_id",
      callback_hosts: [host, "127.0.0.1:9", "169.254.169.254"],
    },
  });
  deps = {
    db: test.domain.db,
    clock: { now: () => new Date() },
    signingKey,
    jobHosts: [],
    privateNetworks: parseNetworks(["127.0.0.1/32"]),
    timeoutMs: 2000,
  };
});
afterAll(async () => {
  server.close();
  await test.close();
  await folder.remove();
});
beforeEach(async () => {
  answerWith = 200;
  seen.length = 0;
  await test.database.db.query("DELETE FROM dagapp.callback_hosts");
});

let counter = 0;

async function finished(callback_url = `http://${host}/hook`, blob_path = "silver/a.tif") {
  const accepted = await test.operator.submitAsset({
    body: {
      platform_id: "ddh",
      platform_refs: { dataset_id: `callback-${++counter}`, resource_id: "r" },
      version_label: "V1",
      workflow_id: "etl_test",
      inputs: { blob_path: "ddh/a.tif" },
      callback_url,
    },
  });
  for (const task of await test.engine.take(accepted.job_id)) {
    await test.engine.complete(task, { blob_path });
  }
  await test.engine.tick();
  const { request_id } = accepted;
  const { items } = await test.reader.listDeliveries({ query: { request_id } });
  return { ...accepted, event_id: items[0]!.event_id };
}

const delivery = (event_id: string) => test.reader.getDelivery({ params: { event_id } });
/** As if the time of the next attempt had come. */
const becomeDue = (event_id: string) =>
  test.database.db.query(
    "UPDATE dagapp.callback_deliveries SET next_attempt_at = now() WHERE event_id = $1",
    [event_id],
  );

describe("callbacks", () => {
  it("report the end of a request, signed, without the id of the job", async () => {
    const { request_id, job_id, event_id, asset_id } = await finished();
    expect((await delivery(event_id)).state).toBe("pending");
    await deliverCallbacks(deps);
    expect(seen).toHaveLength(1);
    const { headers, body } = seen[0]!;
    expect(JSON.parse(body)).toMatchObject({
      event_id,
      event_type: "processing.completed",
      request_id,
      asset_id,
      version_ordinal: 0,
      status: "completed",
      result: { blob_path: "silver/a.tif" },
    });
    expect(body).not.toContain(job_id);
    expect(headers["x-rmhdag-event-id"]).toBe(event_id);
    // What a partner does to verify it.
    const { secret } = await test.operator.callbackSecret({ params: { platform_id: "ddh" } });
    const [, timestamp = "", signature = ""] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-rmhdag-signature"])) ?? [];
    const mac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    expect(signature).toBe(mac);
    expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(60);
    expect(await delivery(event_id)).toMatchObject({ state: "delivered", attempts: 1 });
  });

  it("name where a large result is, instead of holding it", async () => {
    const large = `silver/${"a".repeat(300_000)}.tif`;
    const { request_id } = await finished(undefined, large);
    await deliverCallbacks(deps);
    expect(seen[0]!.body.length).toBeLessThan(2000);
    expect(JSON.parse(seen[0]!.body)).toMatchObject({
      status: "completed",
      result: null,
      result_url: `/api/platform/status/${request_id}`,
    });
    const { result } = await test.reader.getRequest({ params: { request_id } });
    expect(result?.["blob_path"]).toBe(large);
  });

  it("go to further addresses of the platform, each with its own secret and events", async () => {
    const params = { platform_id: "ddh", name: "audit" };
    const put = (url: string, event_types: "export.failed"[] = []) =>
      test.operator.putCallbackAddress({ params, body: { url, event_types } });
    await expect(put("https://elsewhere.example.org/x")).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
    await put(`http://${host}/audit`);
    const { secret } = await test.operator.callbackAddressSecret({ params, body: {} });
    const main = await test.operator.callbackSecret({ params: { platform_id: "ddh" } });
    const { request_id } = await finished();
    await deliverCallbacks(deps);
    expect(seen).toHaveLength(2);
    const signedWith = (key: string) =>
      seen.filter(({ headers, body }) => {
        const [time = "", ...signatures] = String(headers["x-rmhdag-signature"]).split(",");
        const mac = createHmac("sha256", key)
          .update(`${time.slice(2)}.${body}`)
          .digest("hex");
        return signatures.includes(`v1=${mac}`);
      });
    const bodies = [main.secret, secret].map((key) => signedWith(key).map(({ body }) => body));
    expect(bodies.map((each) => each.length)).toEqual([1, 1]);
    const [first, second] = bodies.map(([body = "{}"]) => JSON.parse(body) as { event_id: string });
    expect(first?.event_id).not.toBe(second?.event_id);
    expect(second).toMatchObject({ request_id, event_type: "processing.completed" });

    // An address that asks for another event gets nothing, one that is gone fails.
    await put(`http://${host}/audit`, ["export.failed"]);
    seen.length = 0;
    await finished();
    await deliverCallbacks(deps);
    expect(seen).toHaveLength(1);
    await put(`http://${host}/audit`);
    const waiting = await finished();
    await test.operator.deleteCallbackAddress({ params });
    await deliverCallbacks(deps);
    const { items } = await test.reader.listDeliveries({
      query: { request_id: waiting.request_id },
    });
    expect(items.map(({ state }) => state).toSorted()).toEqual(["delivered", "pending"]);
    expect(items.map(({ last_error }) => last_error)).toContain('the address "audit" is gone');
    await test.database.db.query(
      "UPDATE dagapp.callback_deliveries SET state = 'exhausted' WHERE state = 'pending'",
    );
  });

  it("are signed with the old secret too for a day after a change", async () => {
    const params = { platform_id: "ddh" };
    const old = await test.operator.callbackSecret({ params });
    const next = await test.operator.callbackSecret({ params, body: { rotate: true } });
    expect(next.secret).not.toBe(old.secret);
    await finished();
    await deliverCallbacks(deps);
    const { headers, body } = seen[0]!;
    const [time = "", ...signatures] = String(headers["x-rmhdag-signature"]).split(",");
    const macs = [next.secret, old.secret].map((secret) =>
      createHmac("sha256", secret)
        .update(`${time.slice(2)}.${body}`)
        .digest("hex"),
    );
    expect(signatures).toEqual(macs.map((mac) => `v1=${mac}`));
  });

  it("are tried again later, with the same id, and every attempt is on record", async () => {
    const { event_id } = await finished();
    answerWith = 503;
    await deliverCallbacks(deps);
    const failed = await delivery(event_id);
    expect(failed).toMatchObject({ state: "pending", attempts: 1, last_error: "answered 503" });
    await deliverCallbacks(deps);
    expect(seen, "not before its time").toHaveLength(1);
    answerWith = 200;
    await becomeDue(event_id);
    await deliverCallbacks(deps);
    const done = await delivery(event_id);
    expect(done.state).toBe("delivered");
    expect(done.log.map(({ attempt, status_code }) => [attempt, status_code])).toEqual([
      [1, 503],
      [2, 200],
    ]);
    expect(seen[1]!.body).toBe(seen[0]!.body);
  });

  it("are given up after the last attempt, and can be sent again by hand", async () => {
    const { event_id } = await finished();
    answerWith = 500;
    await test.database.db.query(
      "UPDATE dagapp.callback_deliveries SET attempts = 9 WHERE event_id = $1",
      [event_id],
    );
    await deliverCallbacks(deps);
    expect((await delivery(event_id)).state).toBe("exhausted");
    answerWith = 200;
    await test.operator.redeliver({ params: { event_id } });
    await deliverCallbacks(deps);
    expect((await delivery(event_id)).state).toBe("delivered");
  });

  it("leave a host alone that keeps failing, and try it with a single one", async () => {
    answerWith = 500;
    const events = [];
    for (let n = 0; n < 5; n++) events.push((await finished()).event_id);
    await deliverCallbacks(deps);
    expect(seen).toHaveLength(5);
    for (const event of events) await becomeDue(event);
    await deliverCallbacks(deps);
    expect(seen, "the circuit is open").toHaveLength(5);
    await test.database.db.query("UPDATE dagapp.callback_hosts SET open_until = now()");
    await deliverCallbacks(deps);
    expect(seen, "one to try").toHaveLength(6);
    answerWith = 200;
    await test.database.db.query("UPDATE dagapp.callback_hosts SET open_until = now()");
    await deliverCallbacks(deps);
    for (const event of events) await becomeDue(event);
    await deliverCallbacks(deps);
    const states = await Promise.all(events.map(async (event) => (await delivery(event)).state));
    expect(states).toEqual(events.map(() => "delivered"));
  });

  it("go to no private address, whatever the list of hosts says", async () => {
    const { event_id } = await finished("https://169.254.169.254/latest/meta-data");
    await deliverCallbacks(deps);
    expect((await delivery(event_id)).last_error).toMatch(/linkLocal and not on the open internet/);
  });

  it("go nowhere once their host has left the list", async () => {
    const { event_id } = await finished();
    await test.database.db.query(
      "UPDATE dagapp.callback_deliveries SET url = 'https://elsewhere.example/' WHERE event_id = $1",
      [event_id],
    );
    await deliverCallbacks(deps);
    expect((await delivery(event_id)).last_error).toMatch(/elsewhere\.example is not on/);
  });

  it("are each sent by one of several senders", async () => {
    await finished();
    await finished();
    await Promise.all([deliverCallbacks(deps), deliverCallbacks(deps), deliverCallbacks(deps)]);
    expect(seen).toHaveLength(2);
  });
});

it("are refused with the platform where its own address is on no host of its list", async () => {
  const put = (callback_url: string) =>
    test.operator.putPlatform({
      params: { platform_id: "careless" },
      body: {
        display_name: "C",
        required_refs: ["id"],
        callback_url,
        callback_hosts: ["a.example"],
      },
    });
  await expect(put("https://a.example:8443/done")).rejects.toMatchObject({
    code: "BAD_REQUEST",
    items: [{ pointer: "/callback_url", code: "CALLBACK_URL" }],
  });
  expect((await put("https://a.example/done")).callback_url).toBe("https://a.example/done");
});

describe("the callback of a job that no platform asked for", () => {
  const hook = "https://hooks.example.org/done";
  const submit = (callback_url: string) =>
    test.operator.submitJob({
      body: { workflow_id: "hello_world", correlation_id: "mine", callback_url },
    });
  async function work(jobId: string): Promise<void> {
    for (const task of await test.engine.take(jobId)) {
      await test.engine.complete(task, { greeting: "hello" });
    }
    await test.engine.tick();
  }
  const deliveries = async (job_id: string) =>
    (await test.reader.listDeliveries({ query: { job_id } })).items;

  it("reports its end and where its result is, signed with a secret of its own", async () => {
    const { job_id } = await submit(hook);
    expect(await deliveries(job_id), "not before its end").toEqual([]);
    await work(job_id);
    const [waiting] = await deliveries(job_id);
    expect(waiting).toMatchObject({
      event_type: "job.completed",
      job_id,
      platform_id: null,
      request_id: null,
      url: hook,
    });
    // The test's own receiver, under the name that is on the list.
    await test.database.db.query(
      "UPDATE dagapp.callback_deliveries SET url = $2, host = $3 WHERE event_id = $1",
      [waiting!.event_id, `http://${host}/hook`, host],
    );
    await deliverCallbacks({ ...deps, jobHosts: [host] });
    const { headers, body } = seen[0]!;
    expect(JSON.parse(body)).toMatchObject({
      event_id: waiting!.event_id,
      job_id,
      workflow_id: "hello_world",
      correlation_id: "mine",
      status: "completed",
      error: null,
      result_url: `/api/v1/jobs/${job_id}`,
    });
    const { secret } = await test.operator.jobCallbackSecret();
    const [time = "", signature] = String(headers["x-rmhdag-signature"]).split(",");
    const mac = createHmac("sha256", secret)
      .update(`${time.slice(2)}.${body}`)
      .digest("hex");
    expect(signature).toBe(`v1=${mac}`);
    const { secret: platforms } = await test.operator.callbackSecret({
      params: { platform_id: "ddh" },
    });
    expect(secret).not.toBe(platforms);
  });

  it("goes to the hosts of the configuration only: another one starts nothing", async () => {
    const count = async () =>
      (await test.database.db.query("SELECT count(*) FROM dagapp.dag_jobs")).rows;
    const before = await count();
    await expect(submit("https://evil.example/hook")).rejects.toMatchObject({
      code: "BAD_REQUEST",
      items: [{ pointer: "/callback_url", code: "CALLBACK_URL" }],
    });
    expect(await count()).toEqual(before);
  });

  it("goes nowhere when the host has left the configuration since", async () => {
    const { job_id } = await submit(hook);
    await work(job_id);
    await deliverCallbacks(deps);
    expect((await deliveries(job_id))[0]!.last_error).toMatch(/hooks\.example\.org is not on/);
  });
});
