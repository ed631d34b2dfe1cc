import { expect, it, onTestFinished } from "vitest";
import { rows, temporaryFolders } from "../../../test/support/embedded.ts";
import { hasPostgis } from "../../../test/support/postgis.ts";
import { startEmbeddedPostgres } from "./start-embedded-postgres.ts";

it.skipIf(!hasPostgis)(
  "runs the system's PostgreSQL privately where it has PostGIS (needs PostGIS)",
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
