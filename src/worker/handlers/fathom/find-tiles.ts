/** Finds the flood tiles below a folder: the files of all return periods, by product and tile. */
import type { FathomInput } from "../../../adapters/postgres/queries/fathom.ts";
import { compilePattern, productOf } from "../../../core/fathom/read-name.ts";
import type { FloodAttributes } from "../../../core/fathom/read-name.ts";
import type { FathomConfiguration } from "../../../core/fathom/configuration.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

interface FoundTile {
  readonly product: string;
  readonly place: string;
  readonly attributes: FloodAttributes;
  /** In the order of the return periods. */
  readonly inputs: readonly FathomInput[];
}

interface Finding {
  readonly code: string;
  readonly message: string;
}

export async function findTiles(
  { storage, signal }: HandlerContext,
  prefix: string,
  { pattern, return_periods }: FathomConfiguration,
): Promise<{ readonly tiles: readonly FoundTile[]; readonly findings: readonly Finding[] }> {
  const read = compilePattern(pattern);
  const found = new Map<string, Omit<FoundTile, "inputs"> & { files: Map<number, FathomInput> }>();
  const strange: string[] = [];
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const page = await storage.list(prefix, { limit: 1000, cursor });
    for (const { path, bytes, etag } of page.items) {
      const name = read(path);
      if (name === undefined) {
        strange.push(path);
        continue;
      }
      if (!return_periods.includes(name.return_period)) continue;
      const { tile: place, attributes } = name;
      const product = productOf(attributes);
      const key = `${product} ${place}`;
      const files = found.get(key)?.files ?? new Map<number, FathomInput>();
      found.set(key, { product, place, attributes, files });
      const twin = files.get(name.return_period);
      if (twin !== undefined) {
        const text = `"${twin.path}" and "${path}" are the same return period of one tile.`;
        throw new PermanentError(text, { code: "TILE_TWICE" });
      }
      files.set(name.return_period, { path, tag: `${path} ${bytes} ${etag}` });
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const findings: Finding[] = [];
  const tiles = [...found.values()].flatMap(({ files, ...tile }) => {
    const missing = return_periods.filter((years) => !files.has(years));
    if (missing.length === 0) {
      return [{ ...tile, inputs: return_periods.flatMap((years) => files.get(years) ?? []) }];
    }
    const message = `"${tile.product}" of ${tile.place} has no file of the return periods ${missing.join(", ")}: it is left out.`;
    findings.push({ code: "RETURN_PERIODS_MISSING", message });
    return [];
  });
  if (strange.length > 0) {
    const message = `${strange.length} files are not named as the pattern says and are left out, such as "${strange[0] ?? ""}".`;
    findings.push({ code: "NAME_NOT_UNDERSTOOD", message });
  }
  if (tiles.length === 0) {
    findings.push({ code: "NO_TILES", message: `There is no whole tile below "${prefix}".` });
  }
  return { tiles, findings };
}
