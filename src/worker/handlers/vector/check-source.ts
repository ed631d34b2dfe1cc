/**
 * Checks a fetched source and its sidecars before GDAL sees them, and chooses the only driver that
 * may open it.
 */
import { stat } from "node:fs/promises";
import { checkSidecar, checkVectorFile } from "../../../adapters/files/check-vector-file.ts";
import type { CheckedVector } from "../../../adapters/files/check-vector-file.ts";
import { SqliteError } from "../../../adapters/files/read-sqlite-schema.ts";
import { fileProblems } from "../../../core/files/problem.ts";
import type { FileProblem } from "../../../core/files/problem.ts";
import { Tally } from "../../../core/vector/findings.ts";
import { endingOf, formatOfContent, isParquet } from "../../../core/vector/source-format.ts";
import type { SourceFormat } from "../../../core/vector/source-format.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import type { FetchedSource, SourceFile } from "./fetch-source.ts";
import { mendSpreadsheet } from "./mend-spreadsheet.ts";
import { applyEdits, originalOf, prepareText } from "./prepare-text.ts";

/** Refuses a vector file because of what it refers to, with a finding. */
export class FileRefused extends PermanentError {
  constructor({ code, message }: FileProblem) {
    const remedy = fileProblems[code];
    super(`${message} ${remedy}`, {
      code,
      details: { findings: [{ code, severity: "reject", message, remedy }] },
    });
  }
}

export async function checkSource(
  source: FetchedSource,
  given: { readonly encoding?: string | null | undefined },
  context: HandlerContext,
): Promise<SourceFile> {
  const { file, format: claimed } = source;
  const { size: bytes } = await stat(source.received[0] ?? file);
  if (bytes === 0) {
    throw new PermanentError("The file is empty: send it again.", { code: "FILE_EMPTY" });
  }
  const { signal } = context;
  const findings =
    claimed.isText === true ? await prepareText(file, claimed, given.encoding, signal) : [];
  const checked = await checkVectorFile(file, signal).catch((error: unknown): CheckedVector => {
    if (!(error instanceof SqliteError)) throw error;
    return { content: undefined, found: "a damaged SQLite database", problem: undefined };
  });
  const { content, found, problem, mending, extendedFeatures = 0 } = checked;
  const format = formatOfContent(claimed, content);
  if (format === undefined) {
    throw new PermanentError(
      `The file's extension says ${claimed.name}, and its content is ${found}: save it again, or correct its extension.`,
      { code: "INVALID_FORMAT", details: { found } },
    );
  }
  if (problem !== undefined) throw new FileRefused(problem);
  if (content === "XLSX") await mendSpreadsheet(file, signal);
  for (const sidecar of format.sidecars) {
    const beside = file.slice(0, -endingOf(file).length) + sidecar;
    if ((await stat(beside).catch(() => undefined)) === undefined) continue;
    const wrong = await checkSidecar(beside, sidecar);
    if (wrong !== undefined) throw new FileRefused(wrong);
  }
  if (mending !== undefined && mending.edits.length > 0) {
    await applyEdits(file, mending.edits, signal);
    const tally = new Tally();
    if (mending.nulCharacters > 0) tally.add("TEXT_NUL", mending.nulCharacters);
    if (mending.hugeIntegers > 0) tally.add("INTEGERS_AS_TEXT", mending.hugeIntegers);
    findings.push(...tally.findings());
  }
  const lines = content === "GeoJSON lines" ? mending?.documents : undefined;
  const isRewritten = (await stat(originalOf(file)).catch(() => undefined)) !== undefined;
  const received = source.received.map((each) =>
    each === file && isRewritten ? originalOf(file) : each,
  );
  const drivers = [chooseDriver(format, context)] as const;
  if (drivers[0] === "KML" && extendedFeatures > 0) {
    const tally = new Tally();
    tally.add("ATTRIBUTES_UNREAD", extendedFeatures);
    findings.push(...tally.findings());
  }
  return {
    ...source,
    received,
    format,
    findings,
    lines,
    hasHeights: mending?.hasHeights,
    bytes,
    drivers,
    textColumns: mending?.hugeKeys,
    longKeys: mending?.longKeys,
  };
}

function chooseDriver(format: SourceFormat, { gdal }: HandlerContext): string {
  // Read without GDAL, and written as CSV for it.
  if (isParquet(format)) return "CSV";
  const { vectorDrivers } = gdal.capabilities;
  const driver = format.drivers.find((name) => vectorDrivers.includes(name));
  if (driver !== undefined) return driver;
  const other =
    gdal.engine === "wasm"
      ? "with GDAL's programs installed (Debian: gdal-bin)"
      : "whose GDAL has it (/health lists the drivers of each)";
  throw new PermanentError(
    `This worker's GDAL (${gdal.engine} ${gdal.version}) cannot read ${format.name}: it lacks the driver ${format.drivers.join(" or ")}. Run a worker ${other}, or submit the data as a GeoPackage.`,
    { code: "FORMAT_NOT_SUPPORTED" },
  );
}
