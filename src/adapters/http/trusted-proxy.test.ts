import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { access, defineContract } from "../../core/api/contract.ts";
import { parseNetworks } from "../net/check-address.ts";
import type { ApiRequest } from "./handler.ts";
import type { HttpServer } from "./server.ts";
import { buildServer } from "./server.ts";
import { createAccessPolicy, hashToken } from "./tokens.ts";

const who = { name: z.string().nullable(), access: z.array(access) };
const common = { response: z.object(who), errors: ["FORBIDDEN"] } as const;
const contracts = [
  defineContract({
    ...common,
    id: "look",
    method: "GET",
    path: "/look",
    access: "public",
    summary: "Who is it?",
  }),
  defineContract({
    ...common,
    id: "change",
    method: "POST",
    path: "/change",
    access: "operate",
    summary: "Changes.",
  }),
] as const;
const answer = async ({ caller }: Pick<ApiRequest<(typeof contracts)[0]>, "caller">) => ({
  name: caller?.name ?? null,
  access: [...(caller?.access ?? [])],
});
const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

const servers: HttpServer[] = [];

/** A server that trusts these networks; the tests reach it over a real connection from loopback. */
async function listen(networks: readonly string[] | undefined, openOnLoopback = false) {
  const proxy = networks && {
    networks: parseNetworks(networks),
    userHeader: "x-forwarded-user",
    rolesHeader: "x-forwarded-groups",
  };
  const tokens = [{ name: "robot", sha256: hashToken("robot"), access: ["read" as const] }];
  const server = await buildServer({
    contracts,
    handlers: { look: answer, change: answer },
    access: createAccessPolicy(tokens, { proxy, openOnLoopback }),
    log,
  });
  servers.push(server);
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  return async (path: string, headers: Record<string, string>) => {
    const method = path === "/change" ? "POST" : "GET";
    const response = await fetch(url + path, { method, headers });
    const body = (await response.json()) as { name?: string | null; access?: string[] };
    return { status: response.status, name: body.name, access: body.access };
  };
}

const alice = { "x-forwarded-user": "alice@example.org", "x-forwarded-groups": "rmhdag-operate" };
type Ask = Awaited<ReturnType<typeof listen>>;
let behind: Ask;
let elsewhere: Ask;
let off: Ask;

beforeAll(async () => {
  behind = await listen(["127.0.0.0/8", "::1/128"]);
  elsewhere = await listen(["10.1.0.0/16"]);
  off = await listen(undefined);
});
afterAll(async () => {
  for (const server of servers) await server.close();
});

describe("a user whom a trusted proxy names", () => {
  it("is known, and may what the roles say", async () => {
    expect(await behind("/look", alice)).toEqual({
      status: 200,
      name: "alice@example.org",
      access: ["read", "operate"],
    });
    expect((await behind("/change", alice)).status).toBe(200);
  });

  it("may nothing that no role gives", async () => {
    const groups = "staff, operate rmhdag-read;rmhdag-service rmhdag-admin";
    const reader = { ...alice, "x-forwarded-groups": groups };
    expect((await behind("/look", reader)).access).toEqual(["read"]);
    expect((await behind("/change", reader)).status).toBe(403);
    expect((await behind("/look", { "x-forwarded-user": "bob" })).access).toEqual([]);
  });

  it("is unknown while the proxy sends no name, or two", async () => {
    expect((await behind("/look", {})).name).toBeNull();
    expect((await behind("/change", { "x-forwarded-groups": "rmhdag-operate" })).status).toBe(401);
    expect((await behind("/look", { ...alice, "x-forwarded-user": "eve, alice" })).name).toBeNull();
  });

  it("changes nothing from a page of another origin", async () => {
    const foreign = { ...alice, origin: "https://evil.example" };
    expect((await behind("/change", foreign)).status).toBe(403);
    const own = { ...alice, origin: "https://dag.example", "x-forwarded-host": "dag.example" };
    expect((await behind("/change", own)).status).toBe(200);
  });

  it("counts less than a token that is sent on purpose", async () => {
    const robot = { ...alice, authorization: "Bearer robot" };
    expect((await behind("/look", robot)).name).toBe("robot");
    expect((await behind("/look", { ...alice, authorization: "Bearer wrong" })).status).toBe(401);
  });
});

describe("the same headers from another address", () => {
  it("are as if they were not there", async () => {
    expect((await elsewhere("/look", alice)).name).toBeNull();
    expect((await elsewhere("/change", alice)).status).toBe(401);
    // An address that the request itself claims is no address.
    const claimed = { ...alice, "x-forwarded-for": "10.1.0.7", forwarded: "for=10.1.0.7" };
    expect((await elsewhere("/change", claimed)).status).toBe(401);
  });

  it("mean nothing where no proxy is configured", async () => {
    expect((await off("/look", alice)).name).toBeNull();
    expect((await off("/change", alice)).status).toBe(401);
  });
});

describe("a proxy on this machine", () => {
  it("does not open the door that is open to this machine", async () => {
    const ask = await listen(["127.0.0.0/8"], true);
    expect((await ask("/look", {})).name).toBeNull();
    expect((await ask("/change", {})).status).toBe(401);
  });
});
