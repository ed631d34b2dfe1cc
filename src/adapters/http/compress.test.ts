import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { acceptsGzip, compress } from "./compress.ts";

const accepting = (encodings: string) => (name: string) =>
  name === "accept-encoding" ? encodings : undefined;

describe("compression", () => {
  it.each([
    ["gzip", true],
    ["br, gzip;q=0.5", true],
    ["deflate,GZIP ; q=1.0", true],
    ["gzip;q=0", false],
    ["gzip; q=0.00, br", false],
    ["x-gzip-like", false],
    ["", false],
  ])("for a client that accepts %j: %s", (encodings, isAccepted) => {
    expect(acceptsGzip(accepting(encodings))).toBe(isAccepted);
  });

  it("leaves a small body as it is, and says in any case that the encoding may vary", async () => {
    const small = await compress("small", accepting("gzip"));
    expect(small).toEqual({ body: "small", headers: { vary: "accept-encoding" } });
    const text = "large ".repeat(1000);
    const large = await compress(text, accepting("gzip"));
    expect(large.headers).toEqual({ vary: "accept-encoding", "content-encoding": "gzip" });
    expect(gunzipSync(large.body).toString()).toBe(text);
  });
});
