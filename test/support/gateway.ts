import { createLogger } from "../../src/adapters/runtime/logger.ts";
import type { KeyScope } from "../../src/core/model/platform.ts";
import { readConfig } from "../../src/gateway/config.ts";
import type { RunningGateway } from "../../src/gateway/wiring.ts";
import { startGateway } from "../../src/gateway/wiring.ts";
import { createAccessPolicy, hashToken } from "../../src/adapters/http/tokens.ts";
import type { ApiTest } from "./api.ts";
import { openApiTest } from "./api.ts";
import { makeGatewayUser } from "./database-user.ts";

export interface Recorded {
  readonly caller: string;
  readonly call: string;
  readonly status: number;
  readonly text: string;
}

export interface Call {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // What the test expects, as the library's `inject` has it.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  json<Body = Record<string, unknown>>(): Body;
}

/** An orchestrator's API and engine without timers, and a gateway before it on a port of its own. */
export class GatewayTest {
  readonly api: ApiTest;
  readonly url: string;
  readonly recorded: Recorded[] = [];
  private readonly closers: (() => Promise<unknown>)[];

  private constructor(api: ApiTest, url: string, closers: (() => Promise<unknown>)[]) {
    this.api = api;
    this.url = url;
    this.closers = closers;
  }

  static readonly operatorToken = "operator-of-the-gateway";

  static async open(
    options: { workflows?: string; env?: Record<string, string> } = {},
  ): Promise<GatewayTest> {
    const api = await openApiTest(options.workflows);
    // A token with the rights of the gateway, and no more.
    const token = "token-of-the-gateway";
    const access = createAccessPolicy([
      { name: "gateway", sha256: hashToken(token), access: ["read", "operate", "curate"] },
    ]);
    const behind = await api.another({ access });
    const { url } = await behind.server.listen({ host: "127.0.0.1", port: 0 });
    const user = await makeGatewayUser(api.database.url);
    const gateway = await startTestGateway({
      GATEWAY_DATABASE_URL: user.url,
      ORCHESTRATOR_URL: url,
      DAG_SERVICE_TOKEN: token,
      GATEWAY_OPERATOR_TOKENS: `operator:operate:${hashToken(GatewayTest.operatorToken)}`,
      ...options.env,
    });
    return new GatewayTest(api, gateway.url, [
      () => stopGateway(gateway),
      () => behind.close(),
      () => user.remove(),
      () => api.close(),
    ]);
  }

  async key(platform_id: string, ...scopes: KeyScope[]): Promise<string> {
    const body = { platform_id, name: "test", scopes };
    return (await this.api.operator.createKey({ body })).key;
  }

  async call(method: string, path: string, call: Call = {}): Promise<Reply> {
    const { key, body, headers = {} } = call;
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const { status } = answer;
    const seen = `${JSON.stringify([...answer.headers])}${text}`;
    this.recorded.push({
      caller: key ?? "anonymous",
      call: `${method} ${path}`,
      status,
      text: seen,
    });
    return {
      status,
      headers: answer.headers,
      text,
      json: () => JSON.parse(text) as never,
    };
  }

  /** The ids of all jobs and of their owners. */
  async secrets(): Promise<string[]> {
    const { rows } = await this.api.database.db.query<{ id: string }>(
      `SELECT job_id AS id FROM dagapp.dag_jobs
       UNION SELECT owner_id FROM dagapp.dag_jobs WHERE owner_id IS NOT NULL`,
    );
    return rows.map(({ id }) => id);
  }

  async close(): Promise<void> {
    for (const close of this.closers) await close();
  }
}

export async function startTestGateway(env: Record<string, string>): Promise<RunningGateway> {
  const log = createLogger({ name: "gateway", level: "silent", format: "json" });
  const config = readConfig({ GATEWAY_PORT: "0", ...env });
  return startGateway(config, log, { checkAnswers: true });
}

export async function stopGateway({ stopSteps }: RunningGateway): Promise<void> {
  for (const { stop } of stopSteps) await stop();
}
