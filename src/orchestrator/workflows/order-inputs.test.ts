import { describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../core/model/workflow.ts";
import { orderInputs } from "./order-inputs.ts";

const input = { type: "string", required: false } as const;

describe("the inputs of a workflow", () => {
  // The order in which jsonb answers keys: by their length.
  const definition = {
    inputs: { b: input, zz: input, long_name: input },
  } as unknown as WorkflowDefinition;

  it("come in the order of the file", () => {
    const source = "inputs:\n  long_name: {}\n  b: {}\n  zz: {}\nnodes: {}\n";
    const ordered = orderInputs({ workflow_hash: "a", source, definition });
    expect(Object.keys(ordered)).toEqual(["long_name", "b", "zz"]);
  });

  it("stay as they are without a file, and none is lost", () => {
    expect(Object.keys(orderInputs({ workflow_hash: "b", source: null, definition }))).toEqual([
      "b",
      "zz",
      "long_name",
    ]);
    const source = "inputs:\n  zz: {}\n";
    expect(Object.keys(orderInputs({ workflow_hash: "c", source, definition }))).toEqual([
      "zz",
      "b",
      "long_name",
    ]);
  });
});
