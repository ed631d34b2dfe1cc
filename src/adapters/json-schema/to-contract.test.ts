import { describe, expect, it } from "vitest";
import { compile } from "../../core/dag/compile/compile.ts";
import { contractData, describeContract } from "../../core/handlers/contract-data.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { BadSchema, compileSchema } from "./check-schema.ts";
import { toContract } from "./to-contract.ts";

const ndvi = contractData.parse({
  name: "acme.ndvi",
  params: {
    type: "object",
    properties: {
      red: { type: "string" },
      scale: { type: "number", default: 1 },
      mode: { enum: ["fast", "exact"] },
      bands: { type: "array", items: { type: "integer" } },
    },
    required: ["red"],
    additionalProperties: false,
  },
  queue: "gpu",
  timeout_seconds: 90,
  retry: { max_attempts: 7 },
});

function findings(params: object) {
  return compile(
    { workflow_id: "w", nodes: { a: { handler: "acme.ndvi", params } } },
    {
      handlers: new Map([["acme.ndvi", toContract(ndvi)]]),
      queues: new Set(["gpu"]),
      env: new Set<string>(),
    },
  );
}

describe("a contract that came as data", () => {
  it("gives findings in the words of shipped handlers", () => {
    const { findings: found } = findings({ scale: "2", mode: "fats", bands: [1, "x"], blue: 1 });
    expect(found.map(({ code, path, message }) => [code, path.join("/"), message])).toEqual([
      ["MISSING_PARAMETER", "nodes/a/params", 'acme.ndvi: "red" is missing'],
      ["UNKNOWN_PARAMETER", "nodes/a/params/blue", 'acme.ndvi: "blue" is not known here'],
      [
        "WRONG_PARAMETER",
        "nodes/a/params/scale",
        'acme.ndvi: expected a number, got "2"; write it without quotes: 2',
      ],
      [
        "WRONG_PARAMETER",
        "nodes/a/params/mode",
        'acme.ndvi: must be fast, exact; did you mean "fast"?',
      ],
      ["WRONG_PARAMETER", "nodes/a/params/bands/1", 'acme.ndvi: expected a whole number, got "x"'],
    ]);
  });

  it("leaves values that hold a template to the worker, and gives the node queue and retries", () => {
    const fine = findings({ red: "a.tif", scale: "{{ 1 + 1 }}" });
    expect(fine.findings).toEqual([]);
    expect(fine.definition?.nodes["a"]).toMatchObject({
      queue: "gpu",
      timeout_seconds: 90,
      retry: { max_attempts: 7 },
    });
  });

  it("fills in defaults", () => {
    expect(toContract(ndvi).params.parse({ red: "x" })).toEqual({ red: "x", scale: 1 });
  });

  it.each([{ type: "strin" }, { $ref: "https://example.com/other.json" }, { pattern: "(" }])(
    "refuses the schema %j",
    (schema) => {
      expect(() => compileSchema(schema)).toThrow(BadSchema);
    },
  );

  it.each([...handlerCatalogue.values()])(
    "describes $name so that it can be registered",
    (each) => {
      const data = describeContract(each);
      expect(contractData.parse(JSON.parse(JSON.stringify(data)))).toEqual(data);
      expect(describeContract(toContract(data))).toEqual(data);
    },
  );
});
