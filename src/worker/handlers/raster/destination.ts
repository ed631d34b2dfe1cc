import path from "node:path";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

interface Wanted {
  readonly output_path?: string | null | undefined;
  readonly output_container?: string | null | undefined;
}

/** Raw data stay as they came, results belong to the engine. */
const writable = new Set(["silver", "gold"]);

/**
 * Where an output goes: as asked, or to a place that no other node of any job has. What is
 * published is never overwritten by the next run of the same file.
 */
export function destinationOf(
  context: HandlerContext,
  { output_path, output_container }: Wanted,
  name: string,
): string {
  const zone = output_container ?? "silver";
  const given = output_path ?? `${ownFolder(context)}/${name}`;
  const isWhole = [zone, ...writable].some((each) => given.startsWith(`${each}/`));
  const whole = isWhole ? given : `${zone}/${given}`;
  if (writable.has(whole.split("/")[0] ?? "")) return whole;
  throw new PermanentError(
    `Outputs are written to silver or gold, and not to "${whole.split("/")[0] ?? ""}".`,
    { code: "OUTPUT_ZONE_NOT_ALLOWED" },
  );
}

export function ownFolder({ job_id, node_id }: HandlerContext): string {
  return `${safe(job_id)}/${safe(node_id)}`;
}

/** `bronze/a/Terrain 1.TIF` → `Terrain_1`. */
export function stemOf(source: string): string {
  return safe(path.posix.parse(source).name).slice(0, 100) || "raster";
}

function safe(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]/g, "_").replace(/^\.+/, "_");
}
