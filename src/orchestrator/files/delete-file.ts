import { recordDeleted } from "../../adapters/postgres/repositories/blob-assets.ts";
import { readRefs } from "../../adapters/postgres/queries/lineage.ts";
import { NotInStorage } from "../../adapters/storage/storage.ts";
import { Problem } from "../../core/errors.ts";
import { checked } from "./create-upload.ts";
import type { FileDeps } from "./deps.ts";

/** Deletes a file unless something was made of it: a version could not be processed again. */
export async function deleteFile(
  { db, storage }: FileDeps,
  path: string,
  { force }: { readonly force: boolean },
): Promise<{ path: string; deleted: boolean }> {
  if ((await storage.head(checked(path))) === undefined) throw missing(path);
  if (!force) {
    const [use] = await readRefs(db, [{ kind: "file", id: path }], "down", 1);
    if (use !== undefined) {
      const detail =
        `${use.target_kind} ${use.target_id} was made of ${path}. It could not be made again: ` +
        "delete it with force if that is meant.";
      throw new Problem("FILE_IN_USE", detail);
    }
  }
  if (!(await storage.delete(path))) throw missing(path);
  await recordDeleted(db, path);
  return { path, deleted: true };
}

function missing(path: string): Problem {
  return new Problem("NOT_FOUND", new NotInStorage(path).message);
}
