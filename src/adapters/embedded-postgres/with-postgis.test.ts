import { existsSync, readdirSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { rows, temporaryFolders } from "../../../test/support/embedded.ts";
import { startEmbeddedPostgres } from "./start-embedded-postgres.ts";

/** Debian's place for it; the launcher also asks pg_config. */
function hasSystemPostgis(): boolean {
  const share = "/usr/share/postgresql";
  if (!existsSync(share)) return false;
  return readdirSync(share).some((major) =>
    existsSync(`${share}/${major}/extension/postgis.control`),
  );
}

it.runIf(hasSystemPostgis())(
  "runs the system's PostgreSQL privately where it has PostGIS",
  async () => {
    const folders = temporaryFolders();
    const server = await startEmbeddedPostgres({ dataDirectory: await folders.make() });
    onTestFinished(async () => {
      await server.stop();
      await folders.remove();
    });
    expect(server).toMatchObject({ source: "system", hasPostgis: true, attached: false });
    await rows(server.url, "CREATE EXTENSION postgis");
    const [point] = await rows(
      server.url,
      `SELECT ST_AsText(ST_Transform(ST_SetSRID(ST_MakePoint(0, 0), 3857), 4326)) AS wkt`,
    );
    expect(point).toEqual({ wkt: "POINT(0 0)" });
  },
);
