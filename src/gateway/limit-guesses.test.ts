import { beforeEach, describe, expect, it } from "vitest";
import type { ClientAddress } from "../adapters/http/access.ts";
import { parseNetworks } from "../adapters/net/check-address.ts";
import { clientOf, limitGuesses } from "./limit-guesses.ts";

const ddh = { name: "ddh/1", access: ["read" as const], platformId: "ddh" };
let now: number;
let atOnce: number;
let mostAtOnce: number;
let known: Set<string>;
const clock = { now: () => new Date(now) };
beforeEach(() => {
  now = 0;
  atOnce = 0;
  mostAtOnce = 0;
  known = new Set(["good", "fresh"]);
});

const limited = () =>
  limitGuesses(
    async (token) => {
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      await Promise.resolve();
      atOnce--;
      return known.has(token) ? ddh : undefined;
    },
    { perMinute: 6, trustedProxies: [] },
    clock,
  );
const from = (remoteAddress: string): ClientAddress => ({ remoteAddress, forwardedFor: undefined });

describe("an address whose tokens are unknown", () => {
  it("gets 429 after a few", async () => {
    const authenticate = limited();
    for (let n = 0; n < 6; n++) {
      expect(await authenticate(`guess ${n}`, from("192.0.2.1"))).toBeUndefined();
    }
    const refused = { code: "TOO_MANY_REQUESTS", retryAfterSeconds: 10 };
    await expect(authenticate("guess", from("192.0.2.1"))).rejects.toMatchObject(refused);
    expect(await authenticate("guess", from("192.0.2.2")), "another address").toBeUndefined();
    now += 10_000;
    expect(await authenticate("guess", from("192.0.2.1")), "after the wait").toBeUndefined();
    await expect(authenticate("guess", from("192.0.2.1"))).rejects.toMatchObject(refused);
  });

  it("gains nothing by asking all at once", async () => {
    const authenticate = limited();
    const guesses = Array.from({ length: 100 }, (_, n) =>
      authenticate(`guess ${n}`, from("192.0.2.1")),
    );
    const answers = await Promise.allSettled(guesses);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(6);
    // Six at once, and the others one by one.
    expect(mostAtOnce).toBeLessThanOrEqual(7);
  });

  it("locks out no good token, whether it came before or not", async () => {
    const authenticate = limited();
    expect(await authenticate("good", from("192.0.2.1"))).toEqual(ddh);
    for (let n = 0; n < 6; n++) await authenticate(`guess ${n}`, from("192.0.2.1"));
    await expect(authenticate("guess", from("192.0.2.1"))).rejects.toBeDefined();
    expect(await authenticate("good", from("192.0.2.1"))).toEqual(ddh);
    expect(await authenticate("fresh", from("192.0.2.1"))).toEqual(ddh);
    known.delete("good");
    await expect(authenticate("good", from("192.0.2.1"))).rejects.toMatchObject({
      code: "TOO_MANY_REQUESTS",
    });
  });

  it("pays nothing for tokens that are good", async () => {
    const authenticate = limited();
    known = new Set(Array.from({ length: 50 }, (_, n) => `key ${n}`));
    for (const key of known) expect(await authenticate(key, from("192.0.2.1"))).toEqual(ddh);
  });

  it("pays nothing while the database is down", async () => {
    const away = () => Promise.reject(new Error("the database is away"));
    const authenticate = limitGuesses(away, { perMinute: 6, trustedProxies: [] }, clock);
    for (let n = 0; n < 20; n++) {
      await expect(authenticate("good", from("192.0.2.1"))).rejects.toThrow("away");
    }
  });

  it("is the same one with each of the addresses of its network", async () => {
    const authenticate = limited();
    for (let n = 0; n < 6; n++) await authenticate("guess", from(`2001:db8::${n + 1}`));
    await expect(authenticate("guess", from("2001:db8::ffff"))).rejects.toBeDefined();
    expect(await authenticate("guess", from("2001:db8:0:1::1"))).toBeUndefined();
  });
});

describe("the address of a client", () => {
  const proxies = parseNetworks(["10.0.0.0/8"]);
  it.each([
    ["192.0.2.1", undefined, "192.0.2.1"],
    ["192.0.2.1", "198.51.100.1", "192.0.2.1"],
    ["10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.1", "203.0.113.9, 198.51.100.1, 10.0.0.2", "198.51.100.1"],
    ["10.0.0.1", "nonsense", "10.0.0.1"],
    ["10.0.0.1", undefined, "10.0.0.1"],
  ])("is, from %s with X-Forwarded-For %s, %s", (remoteAddress, forwardedFor, client) => {
    expect(clientOf({ remoteAddress, forwardedFor }, proxies)).toBe(client);
  });
});
