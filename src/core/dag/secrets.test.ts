import { describe, expect, it } from "vitest";
import { handlerCatalogue } from "../handlers/index.ts";
import { dots } from "../model/mask.ts";
import { taskQueues } from "../queues.ts";
import { compile } from "./compile/compile.ts";
import { hideInDefinition, literalSecrets, readSecretParams } from "./secrets.ts";

const options = {
  handlers: handlerCatalogue,
  queues: new Set<string>(taskQueues),
  env: new Set<string>(),
  workflowId: "w",
};

describe("secrets of a definition", () => {
  const { findings, definition, graph } = compile(
    {
      inputs: { token: { secret: true, default: "from-the-file" }, name: {} },
      nodes: {
        a: {
          handler: "echo",
          params: {
            plain: "{{ inputs.name | default('x') }}",
            key: { secret: true, value: "literal" },
            auth: { user: "u", password: { secret: true, value: "{{ inputs.token }}" } },
          },
        },
        b: {
          type: "fan_out",
          source: [1],
          task: { handler: "sleep", params: { seconds: { secret: true, value: 3 } } },
        },
      },
    },
    options,
  );

  it("are checked by the values that handlers get", () => {
    expect(findings).toEqual([]);
    expect(graph?.secrets).toEqual({
      inputs: ["token"],
      params: new Map([
        ["a", ["key", "auth"]],
        ["b", ["seconds"]],
      ]),
    });
    expect(definition?.nodes["a"]).toMatchObject({
      params: { key: "literal", auth: { user: "u", password: "{{ inputs.token }}" } },
    });
    const wrong = compile(
      { nodes: { a: { handler: "sleep", params: { seconds: { secret: true, value: "x" } } } } },
      options,
    );
    expect(wrong.findings).toMatchObject([{ code: "WRONG_PARAMETER" }]);
  });

  it("are not shown with it, and templates are", () => {
    expect(literalSecrets(definition!)).toEqual(["from-the-file", "literal", 3]);
    const shown = hideInDefinition(definition!);
    expect(shown.inputs?.["token"]?.default).toBe(dots);
    expect(shown.nodes["a"]).toMatchObject({
      params: { key: dots, auth: { password: "{{ inputs.token }}" } },
    });
    expect(shown.nodes["b"]).toMatchObject({ task: { params: { seconds: dots } } });
  });

  it("leave parameters without a secret as they are", () => {
    const params = { a: [{ secret: true }], b: { secret: "true", value: 1 } };
    expect(readSecretParams(params)).toEqual({ params, secret_params: [] });
    expect(readSecretParams(params).params).toBe(params);
  });
});
