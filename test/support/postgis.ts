import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe } from "vitest";
import { openDatabase } from "../../src/adapters/postgres/database.ts";
import { migrate } from "../../src/adapters/postgres/migrate.ts";
import { startEmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";
import type { TestDatabase } from "./database.ts";
import { createTestDatabase } from "./database.ts";

const share = "/usr/share/postgresql";

/** Looks where Debian installs it. */
export const hasPostgis =
  existsSync(share) &&
  readdirSync(share).some((major) => existsSync(`${share}/${major}/extension/postgis.control`));

/** A migrated database on a server of its own that has PostGIS. */
export async function createPostgisDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-postgis-"));
  const server = await startEmbeddedPostgres({
    dataDirectory: folder,
    prefer: "system",
    sync: false,
  });
  await migrate(server.url);
  const db = openDatabase({ url: server.url, applicationName: "rmhdag test" });
  return {
    url: server.url,
    db,
    drop: async () => {
      await db.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface LayerForm {
  readonly form: "wkb" | "postgis";
  readonly create: () => Promise<TestDatabase>;
}

/** Runs a suite for each of the two forms in which layers are stored. */
export function describeForms(title: string, suite: (form: LayerForm) => void): void {
  describe(`${title} as WKB`, () => {
    suite({ form: "wkb", create: () => createTestDatabase() });
  });
  describe.skipIf(!hasPostgis)(`${title} as PostGIS geometry (needs PostGIS)`, () => {
    suite({ form: "postgis", create: createPostgisDatabase });
  });
}
