import type { SourceFile } from "./fetch-source.ts";
import { refuse } from "./refuse.ts";

export async function unpackArchive(
  _archive: string,
  _folder: string,
  _options: { readonly signal: AbortSignal },
): Promise<SourceFile> {
  throw refuse("UNSUPPORTED_FORMAT", "Archives are not unpacked yet.");
}
