import type { HandlerContext } from "../../define-handler.ts";
import { fetchSource } from "./fetch-source.ts";
import { inspectSource } from "./inspect-source.ts";
import { openOptions } from "./open-options.ts";
import type { OpenedLayer } from "./with-sql.ts";

/** A layer of a file, for handlers that ask GDAL to make another one of it. */
export async function openLayer(
  given: {
    readonly blob_path: string;
    readonly container?: string | undefined;
    readonly layer?: string | null | undefined;
  },
  context: HandlerContext,
): Promise<OpenedLayer> {
  const source = await fetchSource(given, context);
  const options = await openOptions(source, {});
  const layer = await inspectSource(source, options, { wanted: given.layer, header: [] }, context);
  return { file: source.file, openArgs: options.args, layer };
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
