import { afterEach, expect, it, vi } from "vitest";
import { print, printJson, say } from "./output.ts";

const streams = { stdout: process.stdout, stderr: process.stderr };
function record(name: keyof typeof streams): string[] {
  const texts: string[] = [];
  vi.spyOn(streams[name], "write").mockImplementation((text) => {
    texts.push(String(text));
    return true;
  });
  return texts;
}
afterEach(() => vi.restoreAllMocks());

it("nothing that is printed has control characters that a terminal takes for a command", () => {
  const [out, error] = [record("stdout"), record("stderr")];
  const text = "a\u009b2Jb\u0085c\u007f";
  print(text);
  printJson({ text });
  say(text);
  const printed = [...out, ...error].join("");
  vi.restoreAllMocks();
  expect(printed).not.toMatch(/[\u007f-\u009f]/);
  expect(printed).toContain("a\\u009b2Jb");
  expect(JSON.parse(out[1] ?? "")).toEqual({ text });
});
