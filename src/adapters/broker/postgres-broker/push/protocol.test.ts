import { describe, expect, it } from "vitest";
import { createLineReader, fromIdentity, isLoopback, toIdentity } from "./protocol.ts";

describe("the lines of a push connection", () => {
  it("are passed on whole, however they arrive", () => {
    const lines: string[] = [];
    const read = createLineReader((line) => lines.push(line));
    expect(read('{"a":1}\n{"b"')).toBe(4);
    expect(read(":2")).toBe(6);
    expect(lines).toEqual(['{"a":1}']);
    expect(read("}\n\n")).toBe(0);
    expect(lines).toEqual(['{"a":1}', '{"b":2}', ""]);
  });

  it("name a worker by an identity of plain characters", () => {
    expect(toIdentity("worker ü/1")).toMatch(/^[\w-]+$/);
    expect(fromIdentity(toIdentity("worker ü/1"))).toBe("worker ü/1");
  });

  it("are plain on addresses that only this machine reaches, and on no name", () => {
    expect(["127.0.0.1", "127.255.3.4", "::1"].filter((host) => !isLoopback(host))).toEqual([]);
    const others = [
      "localhost",
      "127.0.0.1.example",
      "128.0.0.1",
      "0.0.0.0",
      "::",
      "::ffff:10.0.0.1",
    ];
    expect(others.filter(isLoopback)).toEqual([]);
  });
});
