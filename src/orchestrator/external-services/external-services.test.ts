import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestDatabase } from "../../../test/support/database.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { parseNetworks } from "../../adapters/net/check-address.ts";
import {
  listServices,
  writeService,
} from "../../adapters/postgres/repositories/external-services.ts";
import { systemClock } from "../../adapters/runtime/clock.ts";
import { serviceEdit } from "../../core/model/external-service.ts";
import { checkServices } from "./check-services.ts";

let database: TestDatabase;
let server: Server;
let url: string;
let status = 200;
const asked: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  server = createServer((request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    response.writeHead(status).end("a tile");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await database.drop();
});

const deps = (networks: readonly string[]) => ({
  db: database.db,
  clock: systemClock,
  privateNetworks: parseNetworks(networks),
});
const health = async () =>
  (await listServices(database.db, { layers: false })).map((each) => [
    each.service_id,
    each.health,
    each.failures,
  ]);
const againDue = () =>
  database.db.query("UPDATE dagapp.dag_external_services SET checked_at = now() - interval '1 h'");

it("checks services that are due, once a minute, and says what failed", async () => {
  const tiles = { name: "A map", kind: "xyz", url: `${url}/tiles/{z}/{x}/{y}.png` };
  await writeService(database.db, "tiles", serviceEdit.parse(tiles), "ann");
  const hook = { name: "Hook", kind: "webhook", url, health_url: `${url}/health` };
  await writeService(database.db, "hook", serviceEdit.parse(hook), "ann");
  const asleep = { name: "Zzz", kind: "wms", url, is_active: false };
  await writeService(database.db, "asleep", serviceEdit.parse(asleep), "ann");
  expect(await checkServices(deps(["127.0.0.0/8"]))).toBe(2);
  expect(asked.toSorted()).toEqual(["GET /health", "GET /tiles/0/0/0.png"]);
  expect(await health()).toEqual([
    ["tiles", "ok", 0],
    ["hook", "ok", 0],
    ["asleep", "unknown", 0],
  ]);
  expect(await checkServices(deps(["127.0.0.0/8"]))).toBe(0);

  await againDue();
  status = 500;
  await checkServices(deps(["127.0.0.0/8"]));
  const [failing] = await listServices(database.db, { layers: false });
  expect(failing).toMatchObject({ health: "failing", health_error: "answered 500", failures: 1 });
});

it("asks no private address that is not allowed, and lists what is shown as a layer", async () => {
  await againDue();
  const before = asked.length;
  await checkServices(deps([]));
  expect(asked).toHaveLength(before);
  const layers = await listServices(database.db, { layers: true });
  expect(layers).toMatchObject([{ service_id: "tiles", health: "failing", failures: 2 }]);
});
