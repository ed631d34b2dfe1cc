/**
 * Writes the files that are derived from others, or with --check says which of them are stale.
 * Reads dist: `npm run generate` builds it first.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gatewayContracts } from "../dist/core/api/gateway/index.js";
import { contracts } from "../dist/core/api/index.js";
import { makeOpenApi } from "../dist/core/api/openapi.js";
import { drawMachines } from "../dist/core/model/draw-machines.js";
import { openDatabase } from "../dist/adapters/postgres/database.js";
import { dumpSchema } from "../dist/adapters/postgres/dump-schema.js";
import { migrate } from "../dist/adapters/postgres/migrate.js";
import { version } from "../dist/adapters/runtime/version.js";
import { startEmbeddedPostgres } from "../dist/adapters/embedded-postgres/start-embedded-postgres.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every generated file, and what makes its text. */
const generated = [
  { path: "docs/openapi.json", make: openApiDocument },
  { path: "docs/gateway-openapi.json", make: gatewayDocument },
  { path: "docs/state-machines.md", make: drawMachines },
  { path: "migrations/schema.sql", make: schemaOfMigrations },
];

async function openApiDocument() {
  return `${JSON.stringify(makeOpenApi(contracts, version), null, 2)}\n`;
}

async function gatewayDocument() {
  return `${JSON.stringify(makeOpenApi(gatewayContracts, version, "gateway"), null, 2)}\n`;
}

async function schemaOfMigrations() {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "rmhdag-generate-"));
  const server = await startEmbeddedPostgres({ dataDirectory, prefer: "npm", sync: false });
  try {
    await migrate(server.url);
    const db = openDatabase({ url: server.url, applicationName: "rmhdag generate" });
    try {
      return await dumpSchema(db);
    } finally {
      await db.close();
    }
  } finally {
    await server.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

const check = process.argv.includes("--check");
for (const { path: name, make } of generated) {
  const file = path.join(root, name);
  const [wanted, found] = await Promise.all([make(), readFile(file, "utf8").catch(() => "")]);
  if (wanted === found) continue;
  if (check) {
    process.stderr.write(`${name} is stale. Cure: npm run generate\n`);
    process.exitCode = 1;
  } else {
    await writeFile(file, wanted);
    process.stdout.write(`wrote ${name}\n`);
  }
}
