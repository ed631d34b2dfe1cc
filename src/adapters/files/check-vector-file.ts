import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { detectContent, detectedBytes } from "../../core/files/detect-content.ts";
import type { Content } from "../../core/files/detect-content.ts";
import { judgeSchema } from "../../core/files/judge-schema.ts";
import { judgeSidecar, sidecarTextBytes } from "../../core/files/judge-sidecar.ts";
import type { FileProblem } from "../../core/files/problem.ts";
import { JsonScanner } from "../../core/files/scan-json.ts";
import type { ScannedJson } from "../../core/files/scan-json.ts";
import { XmlScanner } from "../../core/files/scan-xml.ts";
import { buffered, withFile } from "../cog/byte-source.ts";
import { openZip } from "../zip/open-zip.ts";
import { readSqliteSchema } from "./read-sqlite-schema.ts";

export type VectorContent =
  | "Shapefile"
  | "GeoPackage"
  | "FlatGeobuf"
  | "GeoJSON"
  | "GeoJSON lines"
  | "TopoJSON"
  | "KML"
  | "GML"
  | "GPX"
  | "DXF"
  | "XLSX"
  | "dBASE table"
  | "GeoParquet"
  | "File Geodatabase"
  | "CSV";

export interface CheckedVector {
  /** What the content is, in words. */
  readonly found: string;
  /** Undefined: it is nothing that is accepted. */
  readonly content: VectorContent | undefined;
  readonly problem: FileProblem | undefined;
  /** Changes to its JSON that keep GDAL from losing values. */
  readonly mending?: Omit<ScannedJson, "problem"> | undefined;
  /** Features of KML with attributes of their own. */
  readonly extendedFeatures?: number | undefined;
}

/** Checks a vector file before GDAL sees it: what its content is, and what it refers to. */
export async function checkVectorFile(file: string, signal: AbortSignal): Promise<CheckedVector> {
  if ((await stat(file)).isDirectory()) return checkGeodatabase(file);
  const start = await withFile(file, (source) => source.read(0, detectedBytes));
  const detected = detectContent(start);
  const refuse = (found: string): CheckedVector => ({
    found,
    content: undefined,
    problem: undefined,
  });
  if (detected.kind === "binary" && detected.name === "SQLite") return checkDatabase(file);
  if (detected.kind === "json") return checkJson(file, signal);
  if (detected.kind === "xml") {
    const content = xmlContent(detected.root, start);
    if (content === undefined) return refuse(detected.name);
    const scanner = new XmlScanner();
    await scan(file, signal, scanner);
    const { extendedFeatures } = scanner;
    return { found: content, content, problem: scanner.end(), extendedFeatures };
  }
  if (detected.kind === "binary" && detected.name === "zip archive") {
    return checkSpreadsheet(file, signal);
  }
  const content = wholeContent(detected);
  return content === undefined
    ? refuse(detected.name)
    : { found: detected.name, content, problem: undefined };
}

/** The root of GML has any name of an application; its namespace tells. */
function xmlContent(root: string, start: Uint8Array): VectorContent | undefined {
  if (root === "kml") return "KML";
  if (root === "gpx") return "GPX";
  const text = String.fromCharCode(...start);
  const isGml =
    /xmlns(?::[\w.-]+)?\s*=\s*["']http:\/\/www\.opengis\.net\/gml(?:\/3\.[\d.]+)?["']/.test(text);
  const isOther = ["OGRVRTDataSource", "VRTDataset", "OGRWFSDataSource"].includes(root);
  return isGml && !isOther ? "GML" : undefined;
}

/** Content without a part that names another file. */
function wholeContent(detected: Content): VectorContent | undefined {
  if (detected.kind === "table") return "dBASE table";
  if (detected.kind === "text") return detected.name === "DXF" ? "DXF" : "CSV";
  if (detected.kind === "binary" && detected.name === "Parquet") return "GeoParquet";
  if (detected.kind !== "binary") return undefined;
  return detected.name === "Shapefile" || detected.name === "FlatGeobuf"
    ? detected.name
    : undefined;
}

/**
 * A spreadsheet is an archive of XML. Its size and each of its parts that is XML are checked, whatever
 * their names are: the workbook says by which names GDAL finds the sheets, the texts and the styles.
 */
async function checkSpreadsheet(file: string, signal: AbortSignal): Promise<CheckedVector> {
  const zip = await openZip(file, { bytes: largestSpreadsheet });
  try {
    const names = new Set(zip.entries.map((entry) => entry.name));
    if (!names.has("xl/workbook.xml")) {
      return { found: "a zip archive", content: undefined, problem: undefined };
    }
    const folder = await mkdtemp(`${file}-parts-`);
    try {
      for (const part of await zip.extractTo(folder, { signal })) {
        if (!(await mayBeXml(part))) continue;
        const scanner = new XmlScanner();
        await scan(part, signal, scanner);
        const problem = scanner.end();
        if (problem !== undefined) return { found: "XLSX", content: "XLSX", problem };
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return { found: "XLSX", content: "XLSX", problem: undefined };
  } finally {
    zip.close();
  }
}

/** As a parser of XML begins to read, in one byte a character or in two. */
function mayBeXml(file: string): Promise<boolean> {
  return withFile(file, async (source) => {
    const start = Buffer.from(await source.read(0, detectedBytes)).toString("latin1");
    if (start.startsWith("\0")) return true;
    return /^(?:\u00ef\u00bb\u00bf)?\s*<|^(?:\u00fe\u00ff|\u00ff\u00fe)|^\s*$/.test(start);
  });
}

const largestSpreadsheet = 2 * 1024 ** 3;

async function checkDatabase(file: string): Promise<CheckedVector> {
  const rows = await withFile(file, (source) => readSqliteSchema(buffered(source)));
  const isGeoPackage = rows.some(({ name }) => name.toLowerCase() === "gpkg_contents");
  if (!isGeoPackage) {
    return { found: "a SQLite database", content: undefined, problem: undefined };
  }
  return { found: "GeoPackage", content: "GeoPackage", problem: judgeSchema(rows) };
}

async function checkJson(file: string, signal: AbortSignal): Promise<CheckedVector> {
  const scanner = new JsonScanner();
  await scan(file, signal, scanner);
  const scanned = scanner.end();
  const { documents, isJson, problem } = scanned;
  if (problem !== undefined) return { found: "JSON", content: "GeoJSON", problem };
  if (!isJson) return { found: "damaged JSON", content: undefined, problem: undefined };
  const content = contentOf(documents, scanned.type);
  return { found: content, content, problem: undefined, mending: scanned };
}

function contentOf(documents: number, type: string | undefined): VectorContent {
  if (documents > 1) return "GeoJSON lines";
  return type === "Topology" ? "TopoJSON" : "GeoJSON";
}

async function scan(
  file: string,
  signal: AbortSignal,
  scanner: { push(bytes: Uint8Array): void },
): Promise<void> {
  let isFirst = true;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024, signal })) {
    const bytes = chunk as Buffer;
    const isMarked = isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    isFirst = false;
    scanner.push(isMarked ? bytes.subarray(3) : bytes);
  }
}

export function checkSidecar(file: string, ending: string): Promise<FileProblem | undefined> {
  return withFile(file, async (source) =>
    judgeSidecar(ending, await source.read(0, sidecarTextBytes)),
  );
}

/** Names of the files in a File Geodatabase; GDAL opens no file outside of the folder. */
export const geodatabaseFile =
  /^(?:a[\da-f]{8}\.(?:gdbtable|gdbtablx|gdbindexes|[\w.]{1,64}\.atx|spx|freelist|horizon)|gdb|timestamps)$/i;

async function checkGeodatabase(folder: string): Promise<CheckedVector> {
  const names = await readdir(folder);
  const hasCatalogue = names.some((name) => name.toLowerCase() === "a00000001.gdbtable");
  if (!hasCatalogue || !names.every((name) => geodatabaseFile.test(name))) {
    return { found: "a folder", content: undefined, problem: undefined };
  }
  return { found: "File Geodatabase", content: "File Geodatabase", problem: undefined };
}
