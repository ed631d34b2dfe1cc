import { setTimeout as pause } from "node:timers/promises";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { get } from "node:http";
import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { readEvents } from "../../src/core/api/fetch.ts";
import type { StreamMessage } from "../../src/core/api/stream.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { waitFor } from "../support/wait.ts";
import { graphOf } from "../support/workflows.ts";

let test: ApiTest;
let make: ApiTest["make"];
const graph = graphOf({
  workflow_id: "streamed",
  nodes: { a: { handler: "echo", next: "b" }, b: { handler: "echo" } },
});
const authorization = `Bearer ${tokens.reader}`;

beforeAll(async () => {
  test = await openApiTest();
  ({ make } = test);
  await make.workflow(graph);
});
afterAll(() => test.close());

/** Follows a job in the background, and gathers what arrives. */
function follow(job_id: string, after?: number) {
  const messages: StreamMessage[] = [];
  const stop = new AbortController();
  const ended = (async () => {
    for await (const message of test.reader.streamJob({
      params: { job_id },
      query: { after },
      signal: stop.signal,
    })) {
      messages.push(message);
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    messages,
    ended,
    stop: () => {
      stop.abort();
    },
    events: () => messages.flatMap((each) => (each.type === "events" ? each.events : [])),
  };
}

const listEvents = (job_id: string, query: { node_id?: string; after?: number; limit?: number }) =>
  test.reader.listJobEvents({ params: { job_id }, query });

describe("a stream", () => {
  it("starts with a snapshot, sends events with the nodes they changed, and ends with the job", async () => {
    const job_id = await make.job(graph);
    await make.event(job_id, "job_created");
    const stream = follow(job_id);
    await waitFor(() => stream.messages.length > 0, { what: "the snapshot" });
    expect(stream.messages[0]).toMatchObject({ type: "snapshot", seq: 1, job: { job_id } });

    await test.database.db.query(
      "UPDATE dagapp.dag_node_states SET status = 'completed', completed_at = now() WHERE job_id = $1 AND node_id = 'a'",
      [job_id],
    );
    await make.event(job_id, "node_completed", { node_id: "a" });
    await waitFor(() => stream.events().length === 1, { what: "the event" });
    const message = stream.messages.find(({ type }) => type === "events");
    expect(message).toMatchObject({ seq: 2, nodes: [{ node_id: "a", status: "completed" }] });

    await make.completion(job_id);
    await stream.ended;
    expect(stream.events().map(({ seq }) => seq)).toEqual([2, 3]);
    expect(stream.messages.at(-1)).toEqual({ type: "end", seq: 3, status: "completed" });
    expect(test.api.streams.size).toBe(0);
  });

  it("follows a real job from its submission to its end", async () => {
    const { job_id } = await test.engine.submit("echo_test", { message: "hi" });
    const stream = follow(job_id);
    await waitFor(() => stream.messages.length > 0, { what: "the snapshot" });
    for (const message of await test.engine.take(job_id)) {
      await test.engine.complete(message, { echoed_params: {} });
    }
    await test.engine.tick();
    await stream.ended;
    expect(stream.messages.at(-1)).toMatchObject({ type: "end", status: "completed" });
    const [first] = stream.messages;
    const { rows } = await test.database.db.query<{ seq: number }>(
      "SELECT seq FROM dagapp.dag_unpacked_events WHERE job_id = $1 AND seq > $2 ORDER BY seq",
      [job_id, first?.type === "snapshot" ? first.seq : -1],
    );
    expect(stream.events().map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq));
  });

  it("gives a client that comes back with Last-Event-ID exactly the events that it missed", async () => {
    const job_id = await make.job(graph);
    for (let n = 0; n < 4; n++) await make.event(job_id, "node_ready", { node_id: "a" });
    const gone = new AbortController();
    const url = `${test.baseUrl}/api/v1/jobs/${job_id}/stream`;
    const first = await fetch(url, { headers: { authorization }, signal: gone.signal });
    for await (const event of readEvents(first.body!)) {
      expect(event.id).toBe("4");
      break;
    }
    gone.abort();
    for (let n = 0; n < 3; n++) await make.event(job_id, "node_ready", { node_id: "b" });

    // The address still says where it began; the header is newer and counts.
    const back = await fetch(`${url}?after=1`, {
      headers: { authorization, "last-event-id": "4" },
    });
    for await (const event of readEvents(back.body!)) {
      const message = JSON.parse(event.data) as StreamMessage & { type: "events" };
      expect(event.id).toBe("7");
      expect(message.type).toBe("events");
      expect(message.events.map(({ seq }) => seq)).toEqual([5, 6, 7]);
      expect(message.nodes.map(({ node_id }) => node_id)).toEqual(["b"]);
      break;
    }
    await waitFor(() => test.api.streams.size === 0, { what: "the streams to be freed" });

    await make.completion(job_id);
    const over = await fetch(url, { headers: { authorization, "last-event-id": "8" } });
    expect(over.status).toBe(204);
    const wrong = await fetch(url, { headers: { authorization, "last-event-id": "x" } });
    expect(wrong.status).toBe(400);
  });

  it("sends more events than fit one message, in order and without a gap", async () => {
    const job_id = await make.job(graph, { event_seq: 4800 });
    await test.database.db.query(
      `INSERT INTO dagapp.dag_job_events (job_id, seq, event_type)
       SELECT $1, n, 'node_ready' FROM generate_series(1, 4800) n
       WHERE n NOT BETWEEN 101 AND 200 AND n NOT BETWEEN 401 AND 1000`,
      [job_id],
    );
    // The events that a job gets in one commit are one row.
    await test.database.db.query(
      `INSERT INTO dagapp.dag_job_events (job_id, seq, event_type, earlier)
       SELECT $1, 200, 'node_ready', jsonb_agg('["node_ready", "info"]'::jsonb)
       FROM generate_series(101, 199)`,
      [job_id],
    );
    // The events of 600 children that completed together are one row.
    await test.database.db.query(
      `INSERT INTO dagapp.dag_job_events (job_id, seq, event_type, node_id, children)
       SELECT $1, 1000, 'node_completed', 'a', array_agg(n) FROM generate_series(0, 599) n`,
      [job_id],
    );
    const streams = Array.from({ length: 10 }, () => follow(job_id, 0));
    for (const stream of streams) {
      await waitFor(() => stream.events().length === 4800, { what: "all events" });
      expect(stream.events().map(({ seq }) => seq)).toEqual(
        Array.from({ length: 4800 }, (_, n) => n + 1),
      );
      expect(stream.messages.length).toBe(3);
      stream.stop();
      await stream.ended;
    }
    const [child] = (await listEvents(job_id, { node_id: "a__123" })).items;
    expect(child).toMatchObject({ seq: 524, node_id: "a__123", event_type: "node_completed" });
    expect((await listEvents(job_id, { node_id: "a" })).items).toEqual([]);
    const page = await listEvents(job_id, { after: 998, limit: 3 });
    expect(page.items.map(({ seq, node_id }) => [seq, node_id])).toEqual([
      [999, "a__598"],
      [1000, "a__599"],
      [1001, null],
    ]);
    expect(page.next_cursor).not.toBeNull();
  });

  it("sends a client that accepts gzip the same bytes in fewer", async () => {
    const job_id = await make.job(graph);
    for (let n = 0; n < 200; n++) await make.event(job_id, "node_ready", { node_id: "a" });
    const url = `${test.baseUrl}/api/v1/jobs/${job_id}/stream?after=0`;
    const sent = async (encoding: string) => {
      const [answer] = (await once(
        get(url, { headers: { authorization, "accept-encoding": encoding } }),
        "response",
      )) as [IncomingMessage];
      const pieces: Buffer[] = [];
      answer.on("data", (piece: Buffer) => pieces.push(piece));
      return { answer, pieces, ended: once(answer, "end") };
    };
    const streams = [await sent("identity"), await sent("gzip"), await sent("gzip")];
    await waitFor(() => streams.every(({ pieces }) => pieces.length > 0), { what: "the events" });
    await make.completion(job_id);
    await Promise.all(streams.map(({ ended }) => ended));
    const [plain, ...zipped] = streams.map(({ pieces }) => Buffer.concat(pieces));
    expect(plain!.toString()).toMatch(/"type":"end".*\n\n$/);
    expect(zipped.map((bytes) => gunzipSync(bytes).toString())).toEqual([
      plain!.toString(),
      plain!.toString(),
    ]);
    expect(zipped[0]!.length).toBeLessThan(plain!.length / 5);
    expect(streams.map(({ answer }) => answer.headers["content-encoding"])).toEqual([
      undefined,
      "gzip",
      "gzip",
    ]);
  });

  it("sends the progress that workers report", async () => {
    const job_id = await make.job(graph, {}, { a: { status: "dispatched" } });
    await make.lease(job_id, "a", { progress_percent: 10 });
    const stream = follow(job_id);
    const said = (percent: number) =>
      stream.messages.some(
        (each) => each.type === "progress" && each.tasks[0]?.progress_percent === percent,
      );
    await waitFor(() => said(10), { what: "the first progress" });
    await test.database.db.query(
      "UPDATE dagapp.dag_queue_leases SET progress_percent = 60 WHERE group_key = $1",
      [job_id],
    );
    await waitFor(() => said(60), { what: "the next progress" });
    stream.stop();
    await stream.ended;
  });

  it("keeps little for a client that does not read, and lets others pass", async () => {
    const job_id = await make.job(graph);
    const socket = connect(Number(new URL(test.baseUrl).port), "127.0.0.1");
    socket.pause();
    socket.write(
      `GET /api/v1/jobs/${job_id}/stream HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`,
    );
    await waitFor(() => test.api.streams.size === 1, { what: "the slow stream" });
    const large = { text: "x".repeat(60_000) };
    for (let n = 0; n < 100; n++) await make.event(job_id, "node_ready", { event_data: large });
    const quick = follow(job_id, 0);
    await waitFor(() => quick.events().length === 100, { what: "the quick client" });
    quick.stop();
    await quick.ended;

    // It has not failed: reading again, it gets everything up to the end.
    let got = "";
    socket.on("data", (data) => (got += data.toString()));
    socket.resume();
    await make.completion(job_id);
    await waitFor(() => got.includes('"type":"end"'), { what: "the slow client's end" });
    socket.destroy();
    await waitFor(() => test.api.streams.size === 0, { what: "the streams to be freed" });
  });

  it("is refused for a job that does not exist, and without a token", async () => {
    const url = `${test.baseUrl}/api/v1/jobs/none/stream`;
    expect((await fetch(url, { headers: { authorization } })).status).toBe(404);
    expect((await fetch(url)).status).toBe(401);
  });
});

describe("a socket", () => {
  const open = (path: string, headers: Record<string, string> = { authorization }) =>
    new WebSocket(test.baseUrl.replace("http", "ws") + path, { headers });

  it("carries the same messages and closes with the job", async () => {
    const job_id = await make.job(graph);
    for (let n = 0; n < 3; n++) await make.event(job_id, "node_ready", { node_id: "a" });
    const socket = open(`/ws/jobs/${job_id}?after=1`);
    const messages: StreamMessage[] = [];
    socket.on("message", (data: Buffer) => {
      messages.push(JSON.parse(data.toString()) as StreamMessage);
    });
    await waitFor(() => messages.length === 1, { what: "the missing events" });
    expect(messages[0]).toMatchObject({ type: "events", events: [{ seq: 2 }, { seq: 3 }] });
    const closed = once(socket, "close");
    await make.completion(job_id);
    const [code] = (await closed) as [number];
    expect(code).toBe(1000);
    expect(messages.at(-1)).toEqual({ type: "end", seq: 4, status: "completed" });
  });

  it("frees everything when its client goes away", async () => {
    const job_id = await make.job(graph);
    const socket = open(`/ws/jobs/${job_id}`);
    await once(socket, "message");
    expect(test.api.streams.size).toBe(1);
    socket.terminate();
    await waitFor(() => test.api.streams.size === 0, { what: "the socket to be freed" });
  });

  it.each([
    ["a job that does not exist", "/ws/jobs/none", { authorization }, 404],
    ["a wrong number", "/ws/jobs/none?after=x", { authorization }, 400],
    ["nobody", "/ws/jobs/none", {}, 401],
  ])("is refused with a status for %s", async (_what, path, headers, status) => {
    const socket = open(path, headers);
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain(String(status));
  });

  it("is refused for a page of another origin, which comes with the user's session", async () => {
    const begun = await test.api.server.inject({
      method: "POST",
      url: "/api/v1/session",
      payload: { token: tokens.reader },
    });
    const [cookie = ""] = String(begun.headers["set-cookie"]).split(";");
    const socket = open("/ws/jobs/none", { cookie, origin: "http://evil.example" });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain("403");
  });

  it("refuses a plain request", async () => {
    const answer = await fetch(`${test.baseUrl}/ws/jobs/none`, { headers: { authorization } });
    expect(answer.status).toBe(400);
  });
});

it("ends all streams when the server stops", async () => {
  const own = await test.another();
  const { url } = await own.server.listen({ host: "127.0.0.1", port: 0 });
  const job_id = await make.job(graph);
  const answer = await fetch(`${url}/api/v1/jobs/${job_id}/stream`, { headers: { authorization } });
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/jobs/${job_id}`, {
    headers: { authorization },
  });
  await once(socket, "message");
  const closed = once(socket, "close");
  const stopped = own.close().then(() => "stopped");
  expect(await Promise.race([stopped, pause(5000, "hangs")])).toBe("stopped");
  await answer.text();
  await closed;
});
