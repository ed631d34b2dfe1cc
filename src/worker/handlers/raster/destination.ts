import path from "node:path";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

interface OutputParams {
  readonly output_path?: string | null | undefined;
  readonly output_container?: string | null | undefined;
}

/**
 * Zones that handlers write to. Bronze holds submitted files; results belongs to the orchestrator.
 */
const writable = new Set(["silver", "gold"]);

/**
 * The path of an output in storage: as the parameters say, or in a folder of this job and node. So
 * the next job on the same source does not overwrite a published file.
 */
export function destinationOf(
  context: HandlerContext,
  { output_path, output_container }: OutputParams,
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
