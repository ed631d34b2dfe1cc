import { describe, expect, it } from "vitest";
import { GatewayTest } from "../support/gateway.ts";

describe("limits", () => {
  it("slow down a key that sends too much, and no other", async () => {
    const small = await GatewayTest.open({
      env: { GATEWAY_RATE_PER_SECOND: "0.1", GATEWAY_RATE_BURST: "3" },
    });
    const [busy, calm] = [await small.key("ddh", "read"), await small.key("ddh", "read")];
    const get = (with_: string) => small.call("GET", "/api/platform", { key: with_ });
    for (let i = 0; i < 3; i++) expect((await get(busy)).status).toBe(200);
    const refused = await get(busy);
    expect(refused.json()).toMatchObject({ status: 429, code: "TOO_MANY_REQUESTS" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await get(calm)).status).toBe(200);
    // The operator reads in the figures what was answered, and what it cost.
    const { text } = await small.call("GET", "/metrics", { key: GatewayTest.operatorToken });
    const answered = (status: number, count: number) =>
      `http_request_duration_seconds_count{method="GET",path="/api/platform",status="${status}"} ${count}\n`;
    expect(text).toContain(answered(200, 4));
    expect(text).toContain(answered(429, 1));
    expect(text).toMatch(/^rmhdag_process_cpu_seconds_total [\d.]+$/m);
    await small.close();
  });

  it("hold for all keys of a platform together, and not for another platform", async () => {
    const small = await GatewayTest.open({
      env: {
        GATEWAY_RATE_PER_SECOND: "0.1",
        GATEWAY_RATE_BURST: "3",
        GATEWAY_PLATFORM_RATE_PER_SECOND: "0.1",
        GATEWAY_PLATFORM_RATE_BURST: "5",
      },
    });
    const keys = await Promise.all(["a", "b", "c"].map(() => small.key("ddh", "read")));
    const get = (with_: string) => small.call("GET", "/api/platform", { key: with_ });
    const answers = [];
    for (const key of [...keys, ...keys]) answers.push(await get(key));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers.at(-1)?.json()).toMatchObject({ detail: /All keys of your platform/ });
    expect((await get(await small.key("arcgis", "read"))).status).toBe(200);
    await small.close();
  });

  it("do not let wrong guesses lock out a key that comes for the first time", async () => {
    const strict = await GatewayTest.open({ env: { GATEWAY_GUESSES_PER_MINUTE: "1" } });
    const mine = await strict.key("ddh", "read");
    const get = (with_: string) => strict.call("GET", "/api/platform", { key: with_ });
    const guess = `${mine.slice(0, -8)}AAAAAAAA`;
    const guesses = await Promise.all(Array.from({ length: 20 }, () => get(guess)));
    expect(guesses.filter(({ status }) => status === 429)).toHaveLength(19);
    expect((await get(mine)).status).toBe(200);
    await strict.close();
  });

  it("slow down the guessing of keys, and not the callers with good ones", async () => {
    const strict = await GatewayTest.open({ env: { GATEWAY_GUESSES_PER_MINUTE: "3" } });
    const mine = await strict.key("ddh", "read");
    const get = (with_: string) => strict.call("GET", "/api/platform", { key: with_ });
    expect((await get(mine)).status).toBe(200);
    const guess = (n: number) =>
      `${mine.slice(0, -1)}${"0123456789".replace(mine.at(-1)!, "")[n]!}`;
    for (let n = 0; n < 3; n++) expect((await get(guess(n))).status).toBe(401);
    const refused = await get(guess(3));
    expect(refused.json()).toMatchObject({ status: 429, code: "TOO_MANY_REQUESTS" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await get(mine)).status).toBe(200);
    await strict.close();
  });
});
