import { healthContracts } from "./health.ts";
import { jobContracts } from "./jobs.ts";
import { nodeContracts } from "./nodes.ts";

/*
 * Earlier addresses of routes, for clients that were written against them. Each is the route itself
 * at another path: the same access, body, answer and errors.
 */

type All = (typeof jobContracts | typeof nodeContracts | typeof healthContracts)[number];
type Named<Id extends All["id"]> = Extract<All, { id: Id }>;

function at<Id extends All["id"], const NewId extends string, const Path extends string>(
  of: Id,
  id: NewId,
  path: Path,
): Omit<Named<Id>, "id" | "path"> & { readonly id: NewId; readonly path: Path } {
  const all: readonly All[] = [...jobContracts, ...nodeContracts, ...healthContracts];
  const found = all.find((contract) => contract.id === of) as Named<Id>;
  return { ...found, id, path };
}

export const earlierPathContracts = [
  at("submitJob", "dagSubmit", "/api/dag/submit"),
  at("getJob", "dagJob", "/api/dag/jobs/{job_id}"),
  at("listJobNodes", "dagJobNodes", "/api/dag/jobs/{job_id}/nodes"),
  at("cancelJob", "dagCancel", "/api/dag/jobs/{job_id}/cancel"),
  at("health", "apiHealth", "/api/health"),
] as const;
