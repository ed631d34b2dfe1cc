import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseEnvironment } from "../runtime/environment.ts";
import { createLogger } from "../runtime/logger.ts";
import { openTracer } from "./open-tracer.ts";
import { toTracingSettings, tracingEnvironment } from "./settings.ts";

const log = createLogger({ level: "silent", format: "json" });
const read = (env: Record<string, string>) =>
  toTracingSettings(parseEnvironment(z.object(tracingEnvironment), env), "worker");

describe("the variables of traces", () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector:4318/";

  it("turn traces on where there is somewhere to send them", async () => {
    expect(read({ OTEL_SERVICE_NAME: "mine" })).toBeUndefined();
    expect(await openTracer(undefined, log)).toBeUndefined();
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT })).toMatchObject({
      otlpUrl: "http://collector:4318/v1/traces",
      serviceName: "rmhdag-worker",
      sampler: "parentbased_always_on",
    });
    const whole = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://elsewhere/take" };
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT, ...whole })?.otlpUrl).toBe("https://elsewhere/take");
    for (const off of [{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }]) {
      expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT, ...off })).toBeUndefined();
    }
    const OTEL_RESOURCE_ATTRIBUTES = "service.name=named,team=maps%20and%20more";
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_RESOURCE_ATTRIBUTES })).toMatchObject({
      serviceName: "named",
      resource: { team: "maps and more" },
    });
  });

  it.each([
    [{ OTEL_TRACES_SAMPLER: "sometimes" }, "OTEL_TRACES_SAMPLER"],
    [{ OTEL_TRACES_SAMPLER_ARG: "1.5" }, "OTEL_TRACES_SAMPLER_ARG"],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "OTEL_EXPORTER_OTLP_PROTOCOL"],
    [{ APPLICATIONINSIGHTS_CONNECTION_STRING: "Key=1" }, "APPLICATIONINSIGHTS_CONNECTION_STRING"],
  ])("are refused by name when they are wrong: %o", (env, name) => {
    expect(() => read(env)).toThrow(name);
  });

  it("leave out what the sampler leaves out, and follow the caller's decision", async () => {
    const sampled = {
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0",
    };
    const tracer = await openTracer(read({ OTEL_EXPORTER_OTLP_ENDPOINT, ...sampled }), log);
    expect(tracer?.start("new").context).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    const parent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const span = tracer?.start("below", { parent, spanId: "c".repeat(16) });
    expect(span).toMatchObject({
      sampled: true,
      context: `00-${"a".repeat(32)}-${"c".repeat(16)}-01`,
    });
  });
});

it("spans arrive at Azure Monitor as requests and dependencies of one operation", async () => {
  const received: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      if (request.url === "/v2.1/track") received.push(...(body as Record<string, unknown>[]));
      response.end(JSON.stringify({ itemsReceived: 1, itemsAccepted: 1, errors: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const tracer = await openTracer(
    read({
      APPLICATIONINSIGHTS_CONNECTION_STRING: `InstrumentationKey=key-1;IngestionEndpoint=http://127.0.0.1:${port}/`,
    }),
    log,
  );
  const parent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5);
  const task = tracer?.start("task check", { kind: "consumer", parent, startedAt });
  tracer?.start("gdalinfo", { parent: task?.context, startedAt }).end({ endedAt: startedAt + 2 });
  task?.end({ error: "no luck", endedAt: startedAt + 90_061_234 });
  await tracer?.close();
  server.close();
  const [, , taskId] = (task?.context ?? "").split("-");
  expect(received).toMatchObject([
    {
      name: "Microsoft.ApplicationInsights.RemoteDependency",
      iKey: "key-1",
      time: "2026-01-02T03:04:05.000Z",
      tags: {
        "ai.operation.id": "a".repeat(32),
        "ai.operation.parentId": taskId,
        "ai.cloud.role": "rmhdag-worker",
      },
      data: {
        baseType: "RemoteDependencyData",
        baseData: { name: "gdalinfo", duration: "0.00:00:00.002", success: true },
      },
    },
    {
      name: "Microsoft.ApplicationInsights.Request",
      tags: { "ai.operation.id": "a".repeat(32), "ai.operation.parentId": "b".repeat(16) },
      data: {
        baseType: "RequestData",
        baseData: {
          id: taskId,
          duration: "1.01:01:01.234",
          success: false,
          properties: { error: "no luck" },
        },
      },
    },
  ]);
});
