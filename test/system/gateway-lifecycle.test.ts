/**
 * The life of a dataset, through the gateway alone, with the real programs: what a partner does from
 * the first submission to the public copy, and what it may not do on the way. And the trace of such a
 * submission through all programs, as a collector receives it.
 */
import { existsSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders, Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/core/api/client.ts";
import { jobSpanId } from "../../src/core/trace/trace-parent.ts";
import type { TestDatabase } from "../support/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { makeWorkflowFolder } from "../support/domain.ts";
import { fixture } from "../support/fixtures.ts";
import type { PartnerAccepted, PartnerAsset } from "../support/partner.ts";
import { Partner } from "../support/partner.ts";
import type { Orchestrator, Program } from "../support/programs.ts";
import { Fleet, finished } from "../support/programs.ts";
import type { ReceivedSpan, TraceReceiver } from "../support/trace-receiver.ts";
import { startTraceReceiver } from "../support/trace-receiver.ts";
import { waitFor } from "../support/wait.ts";

/** Answers the path of its input as its output; the test puts the files there. */
const workflow = `
workflow_id: light_etl
inputs:
  file: { required: true }
  asset_id: { default: none }
nodes:
  process:
    handler: echo
    params: { blob_path: "silver/{{ inputs.file }}" }
outputs:
  blob_path: "silver/{{ inputs.file }}"
  stac_collection_id: birds
  stac_item_id: "{{ inputs.asset_id }}"
  content_hash: "{{ inputs.file }}"
`;

/** One task that runs programs of GDAL. */
const tracedWorkflow = `
workflow_id: traced_etl
nodes:
  check:
    handler: raster.validate
    params: { blob_path: bronze/traced.tif }
`;

const failingWorkflow = `
workflow_id: failing_etl
nodes:
  broken: { handler: fail, params: { message: no luck }, retry: { max_attempts: 0 } }
`;

let database: TestDatabase;
let fleet: Fleet;
let orchestrator: Orchestrator;
let worker: Program;
let partner: Partner;
let key: string;
let gatewayUrl: string;
let receiver: TraceReceiver;
let hooks: Server;
const called: IncomingHttpHeaders[] = [];
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await makeWorkflowFolder();
  await writeFile(path.join(folder.folder, "light_etl.yaml"), workflow);
  await writeFile(path.join(folder.folder, "traced_etl.yaml"), tracedWorkflow);
  await writeFile(path.join(folder.folder, "failing_etl.yaml"), failingWorkflow);
  fleet = new Fleet(database.url, folder.folder);
  receiver = await startTraceReceiver();
  hooks = createServer((request, response) => {
    called.push(request.headers);
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => hooks.listen(0, "127.0.0.1", resolve));
  const traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: "100",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  };
  orchestrator = await fleet.orchestrator({
    ...traced,
    CALLBACK_SIGNING_KEY: "a key for tests, of more than 32 characters",
    CALLBACK_PRIVATE_NETWORKS: "127.0.0.0/8",
    TRACE_URL_TEMPLATE: "https://traces.example.org/trace/{trace_id}",
  });
  worker = await fleet.worker({ ...traced, OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" });
  ({ url: gatewayUrl } = await fleet.gateway(orchestrator, traced));
  const operator = createClient({ baseUrl: orchestrator.url, fetch });
  const body = { platform_id: "ddh", name: "lifecycle", scopes: ["admin" as const] };
  ({ key } = await operator.createKey({ body }));
  partner = new Partner(gatewayUrl, key);
  const bronze = path.join(fleet.dataDirectory, "storage/bronze");
  await mkdir(bronze, { recursive: true });
  await copyFile(fixture("raster/valid_cog_uint16.tif"), path.join(bronze, "traced.tif"));
  const silver = path.join(fleet.dataDirectory, "storage/silver");
  await mkdir(silver, { recursive: true });
  for (const name of ["v1.tif", "v2.tif"]) await writeFile(path.join(silver, name), name);
}, 120_000);
afterAll(async () => {
  await fleet.stop();
  receiver.close();
  hooks.close();
  await database.drop();
  await folder.remove();
});

const submission = (label: string, file: string) => ({
  workflow_id: "light_etl",
  platform_refs: { dataset_id: "birds2023", resource_id: "viewer" },
  version_label: label,
  inputs: { file },
  submitted_by: "alice",
});

const submitted = (label: string, file: string) => partner.submit(submission(label, file));

const refusedSubmission = () =>
  partner.call<{ code: string }>("POST", "/api/platform/submit", submission("next", "v2.tif"), 409);

const shownAt = async (assetId: string) => {
  const { services } = await partner.call<{ services: { version: string; tiles: string }[] }>(
    "GET",
    `/api/assets/${assetId}/services`,
  );
  return services.map(({ version }) => version);
};

describe("the life of a dataset", () => {
  it("goes from the first submission over review and rejection to the last withdrawal", async () => {
    // The first version is processed, and waits.
    const first = await submitted("V1", "v1.tif");
    const { asset_id } = first;
    const asset = `/api/assets/${asset_id}`;
    const get = () => partner.call<PartnerAsset>("GET", asset);
    const act = (ordinal: number, verb: string, body: object) =>
      partner.decide(asset_id, ordinal, verb, body);
    expect(first.version_ordinal).toBe(0);
    expect(await get()).toMatchObject({
      clearance_state: "uncleared",
      latest_approved_version_ordinal: null,
      versions: [{ approval_state: "pending_review", processing_state: "completed" }],
    });
    expect(await shownAt(asset_id)).toEqual([]);

    // No second one while it waits, or is rejected.
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");
    await act(0, "reject", { reason: "the borders are wrong" });
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");

    // Submitted again, approved, served.
    const again = await partner.call<PartnerAccepted>(
      "POST",
      `${asset}/versions/0/resubmit`,
      {},
      202,
    );
    await partner.ended(again.request_id);
    await act(0, "approve", { clearance: "ouo" });
    expect(await get()).toMatchObject({
      clearance_state: "ouo",
      latest_approved_version_ordinal: 0,
    });
    expect(await shownAt(asset_id)).toEqual(["latest"]);

    // The next one: latest stays until it is approved; rejected, it blocks; deleted, it leaves a gap.
    const second = await submitted("V2", "v2.tif");
    expect(second).toMatchObject({ asset_id, version_ordinal: 1 });
    expect(await get()).toMatchObject({ latest_approved_version_ordinal: 0 });
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");
    await act(1, "reject", { reason: "the wrong year" });
    expect((await refusedSubmission()).code).toBe("VERSION_UNRESOLVED");
    await act(1, "unpublish", {});
    const third = await submitted("V2 again", "v2.tif");
    expect(third.version_ordinal).toBe(2);
    await partner.call("PUT", `${asset}/exposure`, { exposure: "all-versions" });
    expect(await shownAt(asset_id)).toEqual(["latest", "0"]);
    await act(2, "approve", { clearance: "ouo" });
    expect(await get()).toMatchObject({ latest_approved_version_ordinal: 2 });
    expect(await shownAt(asset_id)).toEqual(["latest", "0", "2"]);

    // Processed again: a revision, and no new version.
    const revised = await partner.call<PartnerAccepted>(
      "POST",
      `${asset}/versions/0/reprocess`,
      {},
      202,
    );
    await partner.ended(revised.request_id);
    const [zero] = (await get()).versions;
    expect(zero).toMatchObject({ revision: revised.revision, approval_state: "approved" });
    expect(revised.revision).toBeGreaterThan(again.revision);

    // Withdrawn, and gone from this moment.
    await act(2, "withdraw", { reason: "a mistake in the legend" });
    expect(await get()).toMatchObject({ latest_approved_version_ordinal: 0 });
    expect(await shownAt(asset_id)).toEqual(["latest", "0"]);

    const { items } = await partner.call<{ items: { event_type: string; actor: string }[] }>(
      "GET",
      `${asset}/events?limit=200`,
    );
    const done = (type: string) => items.filter(({ event_type }) => event_type === type);
    for (const [type, times] of Object.entries({
      asset_created: 1,
      version_submitted: 3,
      version_resubmitted: 1,
      version_rejected: 2,
      version_approved: 2,
      version_deleted: 1,
      version_reprocessed: 1,
      version_withdrawn: 1,
      exposure_changed: 1,
    })) {
      expect([type, done(type).length]).toEqual([type, times]);
    }
    for (const { actor } of done("version_approved")) expect(actor).toMatch(/^ddh\/.+:carol$/);
    for (const { actor } of done("version_submitted")) expect(actor).toMatch(/^ddh\/.+:alice$/);
    expect(done("clearance_changed").length).toBeGreaterThan(0);
  }, 120_000);

  it("ends in a copy for the public, when it is cleared for it", async () => {
    const { items } = await partner.call<{ items: { asset_id: string }[] }>("GET", "/api/assets");
    const asset = `/api/assets/${items[0]!.asset_id}`;
    const get = () => partner.call<PartnerAsset>("GET", asset);
    await partner.call("POST", `${asset}/versions/2/approve`, {
      clearance: "public",
      actor: "carol",
    });
    const exported = await waitFor(
      async () => {
        const { versions } = await get();
        const { export_state, external_blob_path } = versions.find(
          ({ version_ordinal }) => version_ordinal === 2,
        )!;
        return export_state === "completed" && external_blob_path;
      },
      { what: "the export", timeoutMs: 30_000 },
    );
    expect(exported).toMatch(/^external\//);
    expect(existsSync(path.join(fleet.dataDirectory, "storage", exported))).toBe(true);

    expect(await get()).toMatchObject({ clearance_state: "public" });
    await partner.call("PUT", `${asset}/clearance`, { clearance: "ouo", actor: "carol" });
    expect(await get()).toMatchObject({ clearance_state: "ouo" });
    // Approval ran adf_export; the end of the clearance runs adf_withdraw.
    const copy = path.join(fleet.dataDirectory, "storage", exported);
    await waitFor(() => !existsSync(copy), { what: "the public copy to be gone" });
  }, 60_000);

  it("shows the partner no job, from beginning to end", async () => {
    const { rows } = await database.db.query<{ job_id: string }>(
      "SELECT job_id FROM dagapp.dag_jobs",
    );
    expect(rows.length).toBeGreaterThan(4);
    for (const { job_id } of rows) {
      expect(partner.answers.filter((text) => text.includes(job_id))).toEqual([]);
    }
  });
});

const partnerSpan = "00f067aa0ba902b7";
/** A trace of the partner's own, in which its span is the parent of all that follows. */
const traceparent = (traceId: string, flags = "01") => `00-${traceId}-${partnerSpan}-${flags}`;
const lastSpans = [
  "POST /api/platform/submit",
  "POST /api/v1/submit",
  "task check",
  "job traced_etl",
  "callback processing.completed",
];
const endOf = (spans: readonly ReceivedSpan[], name: string) =>
  spans.some((span) => span.name === name) && spans;

describe("the trace of a submission", () => {
  it("goes from the partner's request through all programs to the callback", async () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const params = { platform_id: "ddh" };
    const { client } = orchestrator;
    const { row_version, display_name, required_refs, version_ref } = await client.getPlatform({
      params,
    });
    const host = `127.0.0.1:${(hooks.address() as AddressInfo).port}`;
    await client.putPlatform({
      params,
      headers: { "if-match": `"${row_version}"` },
      body: { display_name, required_refs, version_ref, callback_hosts: [host] },
    });
    const answer = await fetch(`${gatewayUrl}/api/platform/submit`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        traceparent: traceparent(traceId),
      },
      body: JSON.stringify({
        ...submission("V1", "v1.tif"),
        workflow_id: "traced_etl",
        platform_refs: { dataset_id: "traced", resource_id: "viewer" },
        inputs: {},
        callback_url: `http://${host}/done`,
      }),
    });
    expect(answer.status).toBe(202);
    const spans = await waitFor(
      () => {
        const found = receiver.spans(traceId);
        // Each program sends its own spans when it likes.
        return lastSpans.every((name) => endOf(found, name)) && found;
      },
      { what: `the spans ${lastSpans.join(", ")}`, timeoutMs: 60_000 },
    );

    const { rows } = await database.db.query<{ job_id: string; trace_parent: string }>(
      "SELECT job_id, trace_parent FROM dagapp.dag_jobs WHERE workflow_id = 'traced_etl'",
    );
    const { job_id, trace_parent } = rows[0]!;
    const named = new Map(spans.map((span) => [span.spanId, span]));
    const pathTo = (span: ReceivedSpan): string[] => {
      const parent = named.get(span.parentId);
      const above = parent === undefined ? [span.parentId] : pathTo(parent);
      return [...above, `${span.service.replace("rmhdag-", "")}: ${span.name}`];
    };
    const one = (name: string) => spans.find((span) => span.name === name)!;
    const submitted = [
      partnerSpan,
      "gateway: POST /api/platform/submit",
      "gateway: call orchestrator",
      "orchestrator: POST /api/v1/submit",
    ];
    const ofJob = [...submitted, "orchestrator: job traced_etl"];
    expect(pathTo(one("job traced_etl"))).toEqual(ofJob);
    expect(one("job traced_etl")).toMatchObject({
      spanId: jobSpanId(job_id),
      attributes: { "rmhdag.job_id": job_id, "rmhdag.job_status": "completed" },
      links: [],
      failed: false,
    });
    expect(trace_parent).toBe(`00-${traceId}-${one("POST /api/v1/submit").spanId}-01`);
    expect(pathTo(one("submit"))).toEqual([...ofJob, "orchestrator: submit"]);
    expect(pathTo(one("tick"))).toEqual([...ofJob, "orchestrator: tick"]);
    expect(pathTo(one("wait in container-tasks"))).toEqual([
      ...ofJob,
      "worker: wait in container-tasks",
    ]);
    const ofHandler = [...ofJob, "worker: task check", "worker: raster.validate"];
    const programs = spans.filter(({ name }) => name.startsWith("gdal"));
    expect(programs.length).toBeGreaterThan(0);
    for (const program of programs) {
      expect(pathTo(program)).toEqual([...ofHandler, `worker: ${program.name}`]);
    }
    const callback = one("callback processing.completed");
    expect(pathTo(callback)).toEqual([...ofJob, `orchestrator: ${callback.name}`]);
    expect(callback.attributes["http.response.status_code"]).toBe(200);
    expect(called.map((headers) => headers["traceparent"])).toContain(
      `00-${traceId}-${callback.spanId}-01`,
    );
    // All of it happened below the job, in its time; the clock of the database is that of the machine.
    for (const { startMs, endMs } of [one("tick"), one("task check")]) {
      expect(startMs).toBeGreaterThanOrEqual(one("job traced_etl").startMs - 5);
      expect(endMs).toBeGreaterThanOrEqual(startMs);
    }

    const job = await orchestrator.client.getJob({ params: { job_id } });
    expect(job).toMatchObject({
      trace_id: traceId,
      trace_url: `https://traces.example.org/trace/${traceId}`,
    });
  }, 120_000);

  it("shows a wide fan-out by a few of its children, and links a rerun to its first job", async () => {
    const [wide, again, left] = ["1", "2", "3"].map((digit) => digit.repeat(32)) as [
      string,
      string,
      string,
    ];
    const { client } = orchestrator;
    const item_list = Array.from({ length: 1000 }, (_, index) => index);
    const first = await client.submitJob({
      body: { workflow_id: "fan_out_test", inputs: { item_list } },
      headers: { traceparent: traceparent(wide) },
    });
    await finished(orchestrator, first.job_id);
    const spans = await waitFor(() => endOf(receiver.spans(wide), "job fan_out_test"), {
      what: "the end of the trace",
    });
    const tasks = await waitFor(
      () => {
        const found = receiver.spans(wide).filter(({ name }) => name === "task split");
        return found.length >= 28 && found;
      },
      { what: "the tasks of the trace" },
    );
    expect(tasks).toHaveLength(28);
    expect(new Set(tasks.map(({ kind }) => kind))).toEqual(new Set([5]));
    expect(spans.length).toBeLessThan(250);

    const rerun = await client.rerunJob({
      params: { job_id: first.job_id },
      body: { from_node: "aggregate" },
      headers: { traceparent: traceparent(again) },
    });
    const [job] = await waitFor(
      () => {
        const found = receiver.spans(again).filter(({ name }) => name === "job fan_out_test");
        return found.length > 0 && found;
      },
      { what: "the end of the rerun" },
    );
    expect(job).toMatchObject({
      spanId: jobSpanId(rerun.job_id),
      links: [`${wide}/${jobSpanId(first.job_id)}`],
    });

    const broken = "4".repeat(32);
    const { job_id } = await client.submitJob({
      body: { workflow_id: "failing_etl", inputs: {} },
      headers: { traceparent: traceparent(broken) },
    });
    for (const name of ["job failing_etl", "task broken", "fail"]) {
      const [span] = await waitFor(
        () => {
          const found = receiver.spans(broken).filter((each) => each.name === name);
          return found.length > 0 && found;
        },
        { what: name },
      );
      expect([name, span?.failed]).toEqual([name, true]);
    }
    const line = worker
      .output()
      .split("\n")
      .find((each) => each.includes(`${job_id}_broken_0`));
    for (const id of [broken, `"${job_id}"`, '"broken"']) expect(line).toContain(id);

    // The caller does not record this one, and so nobody does.
    const unsampled = await client.submitJob({
      body: { workflow_id: "echo_test", inputs: { message: "quiet" } },
      headers: { traceparent: traceparent(left, "00") },
    });
    const quiet = await finished(orchestrator, unsampled.job_id);
    expect(quiet).toMatchObject({ trace_id: null, trace_url: null });
    expect(receiver.spans(left)).toEqual([]);
  }, 120_000);
});
