/**
 * Holds back the features that are not proven valid, for GEOS to check before they are written. They
 * are kept in two files, geometries and attributes, a line for each; one more run of GDAL then
 * repairs those that are invalid.
 */
import type { FileHandle } from "node:fs/promises";
import { open, readFile } from "node:fs/promises";
import path from "node:path";
import { invalidSql, readInvalid } from "../../../core/vector/survey.ts";
import type { Parts } from "../../../core/vector/parts.ts";
import { isEmpty, keep, kindsOf } from "../../../core/vector/parts.ts";
import { readWkb } from "../../../core/vector/read-wkb.ts";
import { fromGeoJson, toGeoJson } from "../../../core/vector/geojson.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { dumpOptions, openDump } from "./open-dump.ts";
import { readLines } from "./read-lines.ts";
import { runOptions } from "./gdal-options.ts";

export interface Released {
  /** Undefined: the repair left no geometry of the original kind. */
  readonly parts: Parts | undefined;
  readonly attributes: string;
  readonly wasRepaired: boolean;
}

export class HeldBack {
  count = 0;
  private readonly context: HandlerContext;
  private readonly geometries: string;
  private readonly attributes: string;
  private handles: readonly [FileHandle, FileHandle] | undefined;

  constructor(context: HandlerContext, name: string) {
    this.context = context;
    this.geometries = path.join(context.workDir, `held-${name}.geojsonl`);
    this.attributes = path.join(context.workDir, `held-${name}.attributes`);
  }

  /** GDAL reads a file of one line as GeoJSON. */
  private get drivers(): readonly [string] {
    return this.count > 1 ? ["GeoJSONSeq"] : ["GeoJSON"];
  }

  async add(parts: Parts, attributes: string): Promise<void> {
    this.handles ??= [await open(this.geometries, "w"), await open(this.attributes, "w")];
    const [geometries, rest] = this.handles;
    const feature = { type: "Feature", properties: { n: this.count }, geometry: toGeoJson(parts) };
    await geometries.write(`${JSON.stringify(feature)}\n`);
    await rest.write(Buffer.from(`${attributes}\n`, "latin1"));
    this.count += 1;
  }

  async close(): Promise<void> {
    const handles = this.handles ?? [];
    this.handles = undefined;
    for (const handle of handles) await handle.close();
  }

  /** Yields the held features, repaired, in the order in which they were added. */
  async *release(): AsyncGenerator<Released> {
    if (this.handles === undefined) return;
    await this.close();
    const { context } = this;
    const invalid = await this.findInvalid();
    const repaired = invalid.size === 0 ? new Map<number, Parts>() : await this.repair();
    let number = 0;
    const attributes = readLines({ path: this.attributes }, context.signal);
    let waiting: Buffer[] = [];
    for await (const lines of readLines({ path: this.geometries }, context.signal)) {
      for (const line of lines) {
        if (waiting.length === 0) waiting = ((await attributes.next()).value as Buffer[]).reverse();
        const rest = waiting.pop()?.toString("latin1") ?? "";
        const parts = fromGeoJson(line.toString("utf8"));
        yield invalid.has(number)
          ? { parts: sameKinds(parts, repaired.get(number)), attributes: rest, wasRepaired: true }
          : { parts, attributes: rest, wasRepaired: false };
        number += 1;
      }
    }
    await attributes.return(undefined);
  }

  private async findInvalid(): Promise<ReadonlySet<number>> {
    const { context } = this;
    const answer = `${this.geometries}.invalid`;
    const sql = invalidSql(path.basename(this.geometries, ".geojsonl"));
    const args = ["-f", "GeoJSONSeq", answer, this.geometries, "-dialect", "SQLITE", "-sql", sql];
    const options = runOptions(context, [...this.drivers, "GeoJSONSeq"]);
    await context.gdal.run("ogr2ogr", args, options);
    return readInvalid(await readFile(answer, "utf8"));
  }

  /** The repaired geometries by the number of their feature. */
  private async repair(): Promise<Map<number, Parts>> {
    const { context } = this;
    const file = `${this.geometries}.sql`;
    const args = [...dumpOptions, "-nlt", "GEOMETRY", "-makevalid", "-skipfailures", file];
    const options = runOptions(context, [...this.drivers, "PGDUMP"]);
    await context.gdal.run("ogr2ogr", [...args, this.geometries], options);
    const repaired = new Map<number, Parts>();
    for await (const rows of openDump({ path: file }, context.signal)) {
      for (const { geometry, attributes } of rows) {
        if (geometry !== undefined) repaired.set(Number(attributes.toString()), readWkb(geometry));
      }
    }
    return repaired;
  }
}

/**
 * Keeps the kinds of the original: a polygon without area becomes a line, which its table cannot
 * hold.
 */
function sameKinds(before: Parts, after: Parts | undefined): Parts | undefined {
  if (after === undefined) return undefined;
  const kept = keep(kindsOf(before), after);
  return isEmpty(kept) ? undefined : kept;
}
