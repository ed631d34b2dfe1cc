import { changeFile } from "../../../adapters/postgres/repositories/storage-locks.ts";
import { NotInStorage } from "../../../adapters/storage/storage.ts";
import { changeRoot } from "../../../core/catalogue/static-catalogue.ts";
import type { StacLink } from "../../../core/catalogue/stac.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";
import { rootName } from "./places.ts";

/** Adds a version's collection to the root of a zone's static catalogue, or removes it. */
export async function linkInRoot(
  context: HandlerContext,
  zone: "gold" | "external",
  folder: string,
  child: { readonly href: string; readonly title: string } | undefined,
): Promise<void> {
  const path = `${zone}/${rootName}`;
  await changeFile(requireDatabase(context), path, async () => {
    const text = await context.storage.get(path).catch((error: unknown) => {
      if (error instanceof NotInStorage) return undefined;
      throw error;
    });
    if (text === undefined && child === undefined) return;
    const root =
      text === undefined
        ? undefined
        : (JSON.parse(Buffer.from(text).toString()) as { links: readonly StacLink[] });
    await putJson(context, path, changeRoot(root, folder, child));
  });
}

export async function putJson(
  { storage }: HandlerContext,
  path: string,
  value: object,
): Promise<Uint8Array> {
  const bytes = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
  await storage.put(path, bytes, { contentType: "application/json" });
  return bytes;
}
