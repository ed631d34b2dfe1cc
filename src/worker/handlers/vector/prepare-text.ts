/**
 * Makes UTF-8 without NUL of a text file before it is checked and GDAL reads it: GDAL has no option
 * for the encoding of CSV and GeoJSON, and ends a text at NUL.
 */
import { createReadStream } from "node:fs";
import { access, open, rename } from "node:fs/promises";
import { Editor } from "../../../core/files/edit.ts";
import type { Edit } from "../../../core/files/edit.ts";
import { CsvRows } from "../../../core/vector/csv-rows.ts";
import { encodingFinding, Tally } from "../../../core/vector/findings.ts";
import type { VectorFinding } from "../../../core/vector/findings.ts";
import { isCsv } from "../../../core/vector/source-format.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import { PermanentError } from "../../errors.ts";

const blockBytes = 1024 * 1024;

export async function prepareText(
  file: string,
  format: SourceFormat,
  given: string | null | undefined,
  signal: AbortSignal,
): Promise<VectorFinding[]> {
  const findings: VectorFinding[] = [];
  const named = given ?? (await markedEncoding(file));
  if (named !== undefined) {
    const decoder = decoderOf(named);
    await rewrite(file, signal, (bytes) => [
      Buffer.from(decoder.decode(bytes, { stream: bytes !== undefined })),
    ]);
    findings.push(encodingFinding(named, false));
  }
  if (!isCsv(format)) return findings;
  const { nuls, wideRows } = await lookThrough(file, signal);
  const tally = new Tally();
  if (nuls > 0) {
    await rewrite(file, signal, (bytes) => [
      bytes?.filter((byte) => byte !== 0) ?? new Uint8Array(),
    ]);
    tally.add("TEXT_NUL", nuls);
  }
  if (wideRows > 0) tally.add("VALUES_BEYOND_COLUMNS", wideRows);
  return [...findings, ...tally.findings()];
}

/** Applies edits to a file whose first bytes may be a byte order mark, which is left out. */
export async function applyEdits(
  file: string,
  edits: readonly Edit[],
  signal: AbortSignal,
): Promise<void> {
  const editor = new Editor(edits);
  let isFirst = true;
  await rewrite(file, signal, (bytes) => {
    if (bytes === undefined) return [];
    const isMarked = isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    isFirst = false;
    return editor.push(isMarked ? bytes.subarray(3) : bytes);
  });
}

/** UTF-16 begins with a mark. */
async function markedEncoding(file: string): Promise<string | undefined> {
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    const mark = buffer.readUInt16BE(0);
    if (mark === 0xfffe) return "UTF-16LE";
    return mark === 0xfeff ? "UTF-16BE" : undefined;
  } finally {
    await handle.close();
  }
}

function decoderOf(name: string) {
  const label = name.replace(/^cp-?(\d{3,4})$/i, (_, page: string) =>
    page.startsWith("125") || page === "874" ? `windows-${page}` : `ibm${page}`,
  );
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw new PermanentError(
      `"${name}" is no encoding that this program knows. Use a name such as UTF-8, CP1252, ISO-8859-15, UTF-16LE, GBK or Shift_JIS.`,
      { code: "ENCODING_UNKNOWN" },
    );
  }
}

async function lookThrough(
  file: string,
  signal: AbortSignal,
): Promise<{ readonly nuls: number; readonly wideRows: number }> {
  let nuls = 0;
  const rows = new CsvRows();
  for await (const chunk of createReadStream(file, { highWaterMark: blockBytes, signal })) {
    const bytes = chunk as Buffer;
    for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) nuls += 1;
    rows.push(bytes);
  }
  return { nuls, wideRows: rows.wide };
}

/** `change` is called with each block, and once without one at the end. */
async function rewrite(
  file: string,
  signal: AbortSignal,
  change: (bytes: Uint8Array | undefined) => readonly Uint8Array[],
): Promise<void> {
  const copy = `${file}.new`;
  const handle = await open(copy, "w");
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: blockBytes, signal })) {
      for (const piece of change(chunk as Buffer)) await handle.write(piece);
    }
    for (const piece of change(undefined)) await handle.write(piece);
  } catch (error) {
    if (error instanceof TypeError) {
      throw new PermanentError(
        "The file's text is not in the encoding that was given. Submit again with another encoding.",
        { code: "ENCODING_INVALID" },
      );
    }
    throw error;
  } finally {
    await handle.close();
  }
  // The submitted file is kept, because its hash names the data.
  const original = originalOf(file);
  const isKept = await access(original).then(
    () => true,
    () => false,
  );
  if (!isKept) await rename(file, original);
  await rename(copy, file);
}

/** The path of a submitted file, after it was rewritten. */
export function originalOf(file: string): string {
  return `${file}.original`;
}
