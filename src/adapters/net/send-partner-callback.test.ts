import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { addressProblem, parseNetworks } from "./check-address.ts";
import type { SendOptions } from "./send-partner-callback.ts";
import { sendPartnerCallback } from "./send-partner-callback.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function receiver(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ port: number; hits: () => number }> {
  let hits = 0;
  const server = createServer((request, response) => {
    hits += 1;
    answer(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, hits: () => hits };
}

const loopback = parseNetworks(["127.0.0.1/32"]);
const send = (url: string, options: Partial<SendOptions> = {}) =>
  sendPartnerCallback(new URL(url), "{}", {}, { privateNetworks: [], ...options });

describe("addresses that are not on the open internet", () => {
  it.each([
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "169.254.169.254", // the metadata services of clouds
    "100.64.0.1",
    "192.0.0.192",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:a9fe:a9fe",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "64:ff9b::7f00:1", // an IPv4 address behind a translator
    "2002:7f00:1::", // 6to4 of loopback
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", // Teredo
    "not an address",
  ])("refuses %s", (address) => {
    expect(addressProblem(address, [])).toBeDefined();
  });

  it.each(["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111"])("allows %s", (address) => {
    expect(addressProblem(address, [])).toBeUndefined();
  });

  it("allows the private network that the operator lists, and no other", () => {
    const networks = parseNetworks(["10.1.0.0/16", "fd12::/16"]);
    expect(addressProblem("10.1.2.3", networks)).toBeUndefined();
    expect(addressProblem("::ffff:10.1.2.3", networks)).toBeUndefined();
    expect(addressProblem("fd12::5", networks)).toBeUndefined();
    expect(addressProblem("10.2.0.1", networks)).toBeDefined();
  });
});

describe("a callback", () => {
  it("is posted with its headers and body", async () => {
    let seen = "";
    const { port } = await receiver((request, response) => {
      request.setEncoding("utf8").on("data", (text: string) => (seen += text));
      request.on("end", () => response.writeHead(204, {}).end());
    });
    const sent = await sendPartnerCallback(
      new URL(`http://127.0.0.1:${port}/hook?a=1`),
      '{"é":1}',
      { "content-type": "application/json" },
      { privateNetworks: loopback },
    );
    expect(sent).toEqual({ status_code: 204, error: null });
    expect(seen).toBe('{"é":1}');
  });

  it.each(["http://2130706433", "http://0x7f.1", "http://[::ffff:127.0.0.1]", "http://127.1"])(
    "reaches no loopback written as %s",
    async (base) => {
      const { port, hits } = await receiver((_, response) => response.end());
      const sent = await send(`${base}:${port}/`);
      expect(sent).toMatchObject({ status_code: null });
      expect(sent.error).toMatch(/not on the open internet/);
      expect(hits()).toBe(0);
    },
  );

  it("is not sent where one of a name's addresses is private", async () => {
    const { port, hits } = await receiver((_, response) => response.end());
    const sent = await send(`https://hooks.example:${port}/`, {
      lookup: async () => [
        { address: "8.8.8.8", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ],
    });
    expect(sent.error).toMatch(/127\.0\.0\.1 is loopback/);
    expect(hits()).toBe(0);
  });

  it("asks DNS once: a name that changes between check and connection changes nothing", async () => {
    const { port, hits } = await receiver((_, response) => response.end());
    let asked = 0;
    const sent = await send(`http://rebind.example:${port}/`, {
      privateNetworks: loopback,
      // The second answer would be an address without a listener.
      lookup: async () => [{ address: ++asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }],
    });
    expect(sent).toEqual({ status_code: 200, error: null });
    expect({ asked, hits: hits() }).toEqual({ asked: 1, hits: 1 });
  });

  it("follows no redirect", async () => {
    const inner = await receiver((_, response) => response.end());
    const outer = await receiver((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end();
    });
    const sent = await send(`http://127.0.0.1:${outer.port}/`, { privateNetworks: loopback });
    expect(sent).toEqual({ status_code: 302, error: "answered 302: redirects are not followed" });
    expect(inner.hits()).toBe(0);
  });

  it("needs https outside of the operator's own networks", async () => {
    const sent = await send("http://open.example/", {
      lookup: async () => [{ address: "8.8.8.8", family: 4 }],
    });
    expect(sent.error).toMatch(/must be https/);
  });

  it("does not wait for a server that never answers", async () => {
    const { port } = await receiver(() => undefined);
    const sent = await send(`http://127.0.0.1:${port}/`, {
      privateNetworks: loopback,
      timeoutMs: 200,
    });
    expect(sent).toEqual({ status_code: null, error: "no answer within 200 ms" });
  });

  it("does not wait for DNS that never answers", async () => {
    const sent = await send("https://silent.example/", {
      timeoutMs: 100,
      lookup: () => new Promise(() => undefined),
    });
    expect(sent.error).toBe("no answer within 100 ms");
  });

  it("reads no endless answer", async () => {
    const { port } = await receiver((_, response) => {
      response.writeHead(200);
      const more = () => {
        while (response.write("x".repeat(65_536)));
      };
      response.on("drain", more).on("error", () => undefined);
      more();
    });
    const sent = await send(`http://127.0.0.1:${port}/`, { privateNetworks: loopback });
    expect(sent).toEqual({ status_code: 200, error: null });
  });
});
