import type { Database } from "../../src/adapters/postgres/database.ts";
import { beginLoad, loadChunk } from "../../src/adapters/postgres/repositories/geo-loads.ts";
import { publishLoad } from "../../src/adapters/postgres/repositories/geo-publish.ts";
import type { GeoColumn, GeometryForm } from "../../src/core/vector/geo-table.ts";
import { geometryFields } from "../../src/core/vector/write-wkb.ts";

export interface Square {
  readonly west: number;
  /** The values of the columns as COPY writes them, with tabs between. */
  readonly attributes: string;
}

/** Loads squares of one degree on the equator into a table, as the handlers of a job do. */
export async function loadSquares(
  db: Database,
  given: {
    readonly table_name: string;
    readonly form: GeometryForm;
    readonly load_id: string;
    readonly columns: GeoColumn[];
    readonly rows: readonly Square[];
  },
): Promise<void> {
  const { table_name, form, load_id, columns, rows } = given;
  const table = {
    table_name,
    geometry_type: "MultiPolygon",
    columns,
    feature_count: rows.length,
    bounds: null,
    chunk_count: 1,
  } as const;
  await beginLoad(db, { load_id, job_id: "job", form, tables: [table] });
  const lines = rows.map(({ west, attributes }, index) => {
    const ring = Float64Array.of(west, 0, west + 1, 0, west + 1, 1, west, 1, west, 0);
    const parts = { points: new Float64Array(0), lines: [], polygons: [[ring]] };
    const geometry = geometryFields(form, "polygon", parts, (bytes) =>
      Buffer.from(bytes).toString("hex"),
    );
    return `${index + 1}\t0\t${geometry}\t${attributes}\n`;
  });
  await loadChunk(db, { load_id, table_name, chunk_index: 0 }, async function* () {
    yield Buffer.from(lines.join(""));
  });
  await publishLoad(db, load_id);
}
