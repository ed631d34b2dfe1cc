import type { Logger } from "../runtime/logger.ts";
import type { TracingSettings } from "./settings.ts";
import type { Tracer } from "./tracer.ts";

/** Loads the library only where traces are sent somewhere. */
export async function openTracer(
  settings: TracingSettings | undefined,
  log: Logger,
): Promise<Tracer | undefined> {
  if (settings === undefined) return undefined;
  const { createTracer } = await import("./create-tracer.ts");
  const { otlpUrl, azureMonitor, serviceName, sampler, ratio } = settings;
  const to = [
    ...(otlpUrl === undefined ? [] : [otlpUrl]),
    ...(azureMonitor ? ["Azure Monitor"] : []),
  ];
  log.info({ to, serviceName, sampler, ratio }, "traces are sent");
  return createTracer(settings, log);
}
