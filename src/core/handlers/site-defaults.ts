/**
 * Queues and timeouts of handlers as one site wants them, instead of those of their contracts. A task
 * of a workflow that names its own queue or timeout keeps it.
 */
import { z } from "zod";
import type { HandlerContract } from "./contract.ts";

export interface SiteDefaults {
  /** Queues by handler. */
  readonly routing: ReadonlyMap<string, string>;
  /** Seconds by handler, or by queue for all handlers of that queue. */
  readonly timeouts: ReadonlyMap<string, number>;
}

/** `name=value` separated by commas. */
const pairs = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  )
  .pipe(
    z.array(z.string().regex(/^[\w.-]+\s*=\s*[\w.-]+$/, "must be such as raster.validate=value")),
  )
  .transform((parts) =>
    parts.map((part) => {
      const [name = "", value = ""] = part.split("=").map((each) => each.trim());
      return [name, value] as const;
    }),
  );

/** The settings, for the environment of every program that compiles workflows. */
export const siteDefaultsEnvironment = {
  TASK_ROUTING: pairs.transform((given) => new Map(given)),
  TASK_TIMEOUTS: pairs
    .transform((given) => given.map(([name, value]) => [name, Number(value)] as const))
    .refine((given) => given.every(([, seconds]) => seconds > 0 && seconds <= 604_800), {
      message: "must give seconds, such as raster.create_cog=7200",
    })
    .transform((given) => new Map(given)),
};

export function withSiteDefaults(
  contracts: ReadonlyMap<string, HandlerContract>,
  { routing, timeouts }: SiteDefaults,
): ReadonlyMap<string, HandlerContract> {
  return new Map(
    [...contracts].map(([name, contract]) => {
      const queue = routing.get(contract.name) ?? contract.queue;
      const timeout_seconds =
        timeouts.get(contract.name) ?? timeouts.get(queue) ?? contract.timeout_seconds;
      return [name, { ...contract, queue, timeout_seconds }];
    }),
  );
}

/** Lists what is named and not known, in words; an empty list: all of it is. */
export function siteDefaultProblems(
  contracts: ReadonlyMap<string, HandlerContract>,
  queues: ReadonlySet<string>,
  { routing, timeouts }: SiteDefaults,
): string[] {
  const isHandler = (name: string) => contracts.get(name)?.name === name;
  return [
    ...[...routing].flatMap(([handler, queue]) => [
      ...(isHandler(handler) ? [] : [`TASK_ROUTING names "${handler}", which is no handler`]),
      ...(queues.has(queue) ? [] : [`TASK_ROUTING names "${queue}", which is no declared queue`]),
    ]),
    ...[...timeouts.keys()]
      .filter((name) => !isHandler(name) && !queues.has(name))
      .map((name) => `TASK_TIMEOUTS names "${name}", which is no handler and no declared queue`),
  ];
}
