/** A stand-in of the management API of Azure Data Factory, and of the identity of a machine. */
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface StandInRun {
  readonly id: string;
  readonly pipeline: string;
  readonly parameters: Record<string, string>;
}

export interface DataFactoryStandIn {
  readonly url: string;
  /** For the process that is to find an identity. */
  readonly identity: Record<string, string>;
  readonly runs: StandInRun[];
  /** Requests that were refused because of their token or address. */
  readonly refused: string[];
  /** How often the end of a run was asked for. */
  polls: number;
  /** How runs end. */
  outcome: { status: "Succeeded" | "Failed"; message?: string };
  /** Called when a run starts: a real factory copies files. */
  onRun: (run: StandInRun) => void | Promise<void>;
  close(): void;
}

const token = "a token of the managed identity";
const base =
  "/subscriptions/sub/resourceGroups/group/providers/Microsoft.DataFactory/factories/factory";

export async function startDataFactory(): Promise<DataFactoryStandIn> {
  const server: Server = createServer((request, response) => {
    void answer(request.url ?? "", request.method ?? "", request.headers, request).then((given) => {
      response.writeHead(given.status, { "content-type": "application/json" });
      response.end(JSON.stringify(given.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const standIn: DataFactoryStandIn = {
    url,
    identity: { IDENTITY_ENDPOINT: `${url}/identity`, IDENTITY_HEADER: "secret" },
    runs: [],
    refused: [],
    polls: 0,
    outcome: { status: "Succeeded" },
    onRun: () => undefined,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };

  async function answer(
    address: string,
    method: string,
    headers: Record<string, string | string[] | undefined>,
    body: AsyncIterable<Buffer>,
  ): Promise<{ status: number; body: unknown }> {
    const { pathname, searchParams } = new URL(address, url);
    if (pathname === "/identity") {
      const isMine =
        headers["x-identity-header"] === "secret" &&
        searchParams.get("resource") === "https://management.azure.com";
      if (!isMine) return { status: 400, body: {} };
      const expires_on = String(Math.floor(Date.now() / 1000) + 3600);
      return { status: 200, body: { access_token: token, expires_on, token_type: "Bearer" } };
    }
    const isKnown = pathname.startsWith(base) && searchParams.get("api-version") === "2018-06-01";
    if (headers["authorization"] !== `Bearer ${token}` || !isKnown) {
      standIn.refused.push(`${method} ${address}`);
      return { status: 403, body: { error: { code: "AuthorizationFailed" } } };
    }
    const rest = pathname.slice(base.length);
    const pipeline = /^\/pipelines\/([^/]+)\/createRun$/.exec(rest)?.[1];
    if (method === "POST" && pipeline !== undefined) {
      let text = "";
      for await (const chunk of body) text += chunk.toString();
      const id = `00000000-0000-4000-8000-${String(standIn.runs.length + 1).padStart(12, "0")}`;
      const run = { id, pipeline, parameters: JSON.parse(text) as Record<string, string> };
      standIn.runs.push(run);
      await standIn.onRun(run);
      return { status: 200, body: { runId: id } };
    }
    const id = /^\/pipelineruns\/([^/]+)$/.exec(rest)?.[1];
    if (!standIn.runs.some((run) => run.id === id)) return { status: 404, body: {} };
    standIn.polls++;
    // A run is seen in progress once before it ends.
    if (standIn.polls % 2 === 1) {
      return { status: 200, body: { runId: id, status: "InProgress", message: "" } };
    }
    return { status: 200, body: { runId: id, message: "", ...standIn.outcome } };
  }
  return standIn;
}
