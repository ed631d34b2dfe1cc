import type { Owner } from "../../../core/catalogue/owner.ts";
import { itemIdFor } from "../../../core/catalogue/stac.ts";
import { versionItemId } from "../../../core/domain/platform-names.ts";

interface NamedFile {
  /** The path of the file that the item describes. */
  readonly path: string;
  readonly item_id?: string | null | undefined;
  /** The source that the file was made from. */
  readonly source_path?: string | null | undefined;
}

/**
 * The id of an item: as given, or from the name of its source, so that the same source is the same
 * item however often it is processed. Ids of a version's items begin with the asset and the version.
 */
export function nameItem(
  jobId: string,
  owner: Owner | undefined,
  { path, item_id, source_path }: NamedFile,
): string {
  if (item_id != null) return item_id;
  const name = itemIdFor(source_path ?? withoutJobFolder(path, jobId));
  return owner?.kind === "version" ? versionItemId(owner, name) : name;
}

/** `silver/{job}/{node}/dem.tif` → `silver/dem.tif` */
function withoutJobFolder(path: string, jobId: string): string {
  const [zone = "", folder, , ...rest] = path.split("/");
  return folder === jobId && rest.length > 0 ? [zone, ...rest].join("/") : path;
}
