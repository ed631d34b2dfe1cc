import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalStorage } from "../../src/adapters/storage/local-storage.ts";
import type { Storage } from "../../src/adapters/storage/storage.ts";
import { openApiTest } from "../support/api.ts";
import type { ApiTest } from "../support/api.ts";

let test: ApiTest;
let storage: Storage;
const name = `silver/dem & more/${"long/".repeat(60)}dem.tif`;
beforeAll(async () => {
  test = await openApiTest();
  storage = createLocalStorage(test.engine.folder);
  await storage.put(name, Buffer.from("0123456789"));
  await storage.put("silver/other.tif", Buffer.from("secret"));
});
afterAll(() => test.close());

const get = async (address: string, headers: Record<string, string> = {}) => {
  const response = await fetch(new URL(address, test.baseUrl), { headers });
  return { response, text: await response.text() };
};

it("serves an object by its signed address, whole, in part, or not again", async () => {
  const address = await storage.signedUrl(name);
  const whole = await get(address);
  expect(whole.response.status).toBe(200);
  expect(whole.text).toBe("0123456789");
  expect(whole.response.headers.get("content-type")).toContain("image/tiff");
  expect(whole.response.headers.get("content-length")).toBe("10");
  const etag = whole.response.headers.get("etag") ?? "";

  const part = await get(address, { range: "bytes=2-4" });
  expect(part.response.status).toBe(206);
  expect(part.text).toBe("234");
  expect(part.response.headers.get("content-range")).toBe("bytes 2-4/10");
  expect((await get(address, { range: "bytes=-3" })).text).toBe("789");
  expect((await get(address, { range: "bytes=8-" })).text).toBe("89");
  expect((await get(address, { range: "bytes=2-4", "if-range": '"old"' })).text).toBe("0123456789");
  expect((await get(address, { range: "bytes=50-" })).response.status).toBe(416);
  expect((await get(address, { "if-none-match": etag })).response.status).toBe(304);

  const head = await fetch(new URL(address, test.baseUrl), { method: "HEAD" });
  expect(head.headers.get("content-length")).toBe("10");
});

it("serves nothing at an address that was changed, has expired or is not signed", async () => {
  const address = await storage.signedUrl("silver/other.tif");
  const changed = address.replace("other.tif", encodeURIComponent(name.slice("silver/".length)));
  const later = address.replace(/expires=(\d+)/, (_, at: string) => `expires=${Number(at) + 60}`);
  const late = await storage.signedUrl("silver/other.tif", { seconds: -1 });
  const climbing = address.replace("silver/", "silver/..%2fsilver/");
  for (const bad of [changed, later, late, climbing]) {
    const { response, text } = await get(bad);
    expect(response.status).toBe(403);
    expect(JSON.parse(text)).toMatchObject({ code: "LINK_NOT_VALID" });
  }
  expect((await get("/storage/silver/other.tif")).response.status).toBe(400);
  await storage.delete("silver/other.tif");
  expect((await get(address)).response.status).toBe(404);
});

it("never logs a signature", async () => {
  const address = await storage.signedUrl(name);
  await get(address);
  const signature = new URL(address, test.baseUrl).searchParams.get("signature") ?? "none";
  expect(test.api.logged.some((line) => line.includes("/storage/"))).toBe(true);
  expect(test.api.logged.join("\n")).not.toContain(signature);
});
