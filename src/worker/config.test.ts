import { expect, it } from "vitest";
import { readConfig } from "./config.ts";

it("reaches an orchestrator on another machine in TLS only", () => {
  const read = (url: string) => readConfig({ DAG_CALLBACK_URL: url }).callbackUrl;
  for (const url of ["http://127.0.0.1:8000", "http://[::1]:8000", "http://localhost:8000"]) {
    expect(read(url)).toBe(url);
  }
  expect(read("https://dag.example/api/v1/callbacks/task-result")).toBe("https://dag.example");
  for (const url of ["http://dag.example", "http://10.0.0.7:8000", "http://localhost.example"]) {
    expect(() => read(url)).toThrow(/DAG_CALLBACK_URL: must begin with https/);
  }
});
