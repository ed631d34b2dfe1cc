import { describe, expect, it } from "vitest";
import { createClient } from "./client.ts";
import type { Fetch, FetchAnswer, FetchInit } from "./fetch.ts";

interface Sent {
  url: string;
  init: FetchInit;
}

function answering(status: number, text: string): { fetch: Fetch; sent: Sent[] } {
  const sent: Sent[] = [];
  const bytes = new TextEncoder().encode(text);
  const fetch: Fetch = async (url, init) => {
    sent.push({ url, init });
    const pieces = [bytes.slice(0, 7), bytes.slice(7)];
    const answer: FetchAnswer = {
      status,
      headers: { get: () => "id-1" },
      text: async () => text,
      body: {
        getReader: () => ({
          read: async () => {
            const value = pieces.shift();
            return value === undefined ? { done: true } : { done: false, value };
          },
          cancel: async () => undefined,
        }),
      },
    };
    return answer;
  };
  return { fetch, sent };
}

const baseUrl = "http://here:8000/";

describe("the client", () => {
  it("fills the path, the query and the token in, and escapes them", async () => {
    const { fetch, sent } = answering(200, "{}");
    const client = createClient({ baseUrl, token: "t", fetch });
    await client.listJobNodes({
      params: { job_id: "a/b?c" },
      query: { limit: 5, parent: "x y", cursor: undefined },
    });
    expect(sent[0]!.url).toBe("http://here:8000/api/v1/jobs/a%2Fb%3Fc/nodes?limit=5&parent=x%20y");
    expect(sent[0]!.init.headers).toEqual({
      accept: "application/json",
      authorization: "Bearer t",
    });
  });

  it("turns a problem into an error with its code, detail and items", async () => {
    const errors = [{ pointer: "/inputs/x", code: "WRONG_INPUT", message: "is wrong" }];
    const problem = {
      type: "t",
      title: "t",
      status: 400,
      detail: "Two things.",
      code: "INVALID_INPUTS",
      instance: "id-1",
      errors,
    };
    const { fetch } = answering(400, JSON.stringify(problem));
    const client = createClient({ baseUrl, fetch });
    await expect(client.submitJob({ body: { workflow_id: "w" } })).rejects.toMatchObject({
      name: "ApiError",
      code: "INVALID_INPUTS",
      status: 400,
      detail: "Two things.",
      items: errors,
      requestId: "id-1",
    });
  });

  it.each([
    ["a proxy's page", answering(502, "<html>").fetch],
    ["a code that it does not know", answering(400, '{"code":"constructor"}').fetch],
    ["a page where JSON belongs", answering(200, "<html>").fetch],
    [
      "nothing at all",
      async () => {
        throw new TypeError("fetch failed");
      },
    ],
  ])("says that it did not reach the orchestrator when it gets %s", async (_what, fetch) => {
    await expect(createClient({ baseUrl, fetch }).listJobs()).rejects.toMatchObject({
      code: "UNREACHABLE",
    });
  });

  it("reads a stream in whatever pieces it comes, and passes heartbeats over", async () => {
    const text = ':\n\nid: 1\ndata: {"type":"end","seq":1}\n\n:\n\ndata: {"type":"progress"}\n\n';
    const { fetch } = answering(200, text);
    const messages = [];
    const stream = createClient({ baseUrl, fetch }).streamJob({ params: { job_id: "j" } });
    for await (const message of stream) messages.push(message.type);
    expect(messages).toEqual(["end", "progress"]);
  });
});
