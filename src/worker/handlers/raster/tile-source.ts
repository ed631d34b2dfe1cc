import type { HandlerContext } from "../../define-handler.ts";
import { openSource } from "./open-source.ts";
import type { OpenSource } from "./open-source.ts";
import { planSource } from "./plan-source.ts";
import type { CogWish, PlannedSource } from "./plan-source.ts";

interface TileSource extends CogWish {
  readonly blob_path: string;
  readonly container?: string | null | undefined;
}

export interface OpenTileSource {
  readonly source: OpenSource;
  readonly planned: PlannedSource;
}

/**
 * The source of tiles. Every task plans anew from the same parameters, so all of them cut the same
 * grid; a tile is always encoded, also where the whole could have been copied.
 */
export async function openTileSource(
  context: HandlerContext,
  params: TileSource,
): Promise<OpenTileSource> {
  const source = await openSource(context, params);
  const planned = await planSource(context, source.gdalPath, source.display, params);
  return { source, planned };
}
