/** The work of operators: platforms and their keys, callbacks, dead letters. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPostgresBroker } from "../../src/adapters/broker/postgres-broker/create-postgres-broker.ts";
import {
  ensureCollection,
  upsertItems,
} from "../../src/adapters/postgres/repositories/catalogue.ts";
import { createClient } from "../../src/core/api/client.ts";
import { createLogger } from "../../src/adapters/runtime/logger.ts";
import { findChromium, seriousFindings } from "../support/browser.ts";
import type { Console } from "../support/console.ts";
import { openConsole } from "../support/console.ts";
import { collectionOf, itemOf } from "../support/stac.ts";
import { waitFor } from "../support/wait.ts";

const definitions = {
  echo_etl: `
inputs:
  dataset: { required: true }
nodes:
  process:
    handler: echo
    params: { dataset: "{{ inputs.dataset }}" }
`,
};
const isOff = findChromium() === undefined;

let opened: Console;
let page: Page;

const row = (text: string): Locator => page.locator("tbody tr", { hasText: text });
const dialog = (): Locator => page.getByRole("dialog");

/** Reads the secret of the dialog and closes it. */
async function takeSecret(): Promise<string> {
  const secret = dialog().locator(".secret");
  await secret.waitFor();
  const text = (await secret.textContent()) ?? "";
  await dialog().getByRole("button", { name: "I have stored it" }).click();
  await secret.waitFor({ state: "detached" });
  return text;
}

describe.skipIf(isOff)("the fleet in the console (needs Chromium)", () => {
  beforeAll(async () => {
    opened = await openConsole({ definitions });
    page = opened.page;
    await opened.go("/fleet");
  }, 180_000);

  afterAll(async () => {
    await opened.close();
  }, 90_000);

  it("registers a platform, and says what is still missing", async () => {
    await page.getByRole("button", { name: "New platform" }).click();
    const save = dialog().getByRole("button", { name: "New platform" });
    await dialog().getByLabel("Id", { exact: true }).fill("Birds!");
    await dialog().getByLabel("Name", { exact: true }).fill("Birds of the world");
    await dialog().getByLabel("References that identify").fill("survey_id");
    await dialog().getByLabel("Hosts").fill("hooks.invalid");
    await dialog().getByText("id: must hold lower-case letters").waitFor();
    expect(await save.isDisabled()).toBe(true);
    await dialog().getByLabel("Id", { exact: true }).fill("birds");
    await save.click();
    await row("Birds of the world").waitFor();
    const found = await opened.client.getPlatform({ params: { platform_id: "birds" } });
    expect(found).toMatchObject({ required_refs: ["survey_id"], is_active: true });
  });

  it("makes a key and shows it once, rotates it, and revokes it", async () => {
    await page.getByRole("button", { name: "New key" }).click();
    await dialog()
      .getByLabel(/^Platform/)
      .selectOption("birds");
    await dialog().getByLabel("Used by").fill("portal");
    await dialog().getByRole("button", { name: "New key" }).click();
    const key = await takeSecret();
    expect(key).toMatch(/^rmhk_[0-9a-f]{12}_/);
    await row("portal").getByRole("button", { name: "Rotate" }).click();
    await dialog().getByLabel("stays valid").selectOption("no longer");
    await dialog().getByRole("button", { name: "Rotate" }).click();
    expect(await takeSecret()).not.toBe(key);
    expect(await page.content()).not.toContain(key);
    const newest = row("portal").filter({ has: page.getByRole("button", { name: "Revoke" }) });
    await newest.first().getByRole("button", { name: "Revoke" }).click();
    await dialog().getByRole("button", { name: "Revoke" }).click();
    await waitFor(
      async () => {
        const { items } = await opened.client.listKeys({ query: { platform_id: "birds" } });
        return items.some(({ revoked_at }) => revoked_at !== null);
      },
      { what: "a revoked key" },
    );
    await row("portal").getByText("revoked").first().waitFor();
  });

  it("sends a callback again", async () => {
    await opened.client.submitAsset({
      body: {
        platform_id: "birds",
        platform_refs: { survey_id: "1" },
        version_label: "a",
        workflow_id: "echo_etl",
        inputs: { dataset: "x" },
        callback_url: "https://hooks.invalid/done",
      },
    });
    const again = row("hooks.invalid").getByRole("button", { name: "Send again" });
    await again.first().click();
    const cli = await dialog().getByRole("button", { name: "CLI" }).getAttribute("title");
    expect(cli).toMatch(/^rmhdag callbacks redeliver \S+$/);
    await dialog().getByRole("button", { name: "Send again" }).click();
    await page.getByText("The callback is sent again").waitFor();
  });

  it("shows dead letters, and puts them back", async () => {
    const log = createLogger({ level: "silent", format: "json" });
    const { db, url } = opened.database!;
    const broker = createPostgresBroker({ db, url, holder: "test", log });
    await broker.publish("functionapp-tasks", [{ id: "nonsense", body: "no task at all" }]);
    await broker.close();
    await page.getByRole("button", { name: /^1 show dead letters of functionapp/ }).click();
    await page.getByText("InvalidMessage").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await row("no task at all").getByRole("button", { name: "Put back" }).click();
    await dialog().getByRole("button", { name: "Put back" }).click();
    await page.getByText("1 message back on functionapp-tasks").waitFor();
  });

  it("shows a handler of two workers that disagree, with an example of a node", async () => {
    const { client, site } = opened;
    const { token } = await client.createToken({ body: { name: "gpu", access: ["work"] } });
    const worker = createClient({ baseUrl: site.url, token, fetch });
    for (const [worker_id, type] of Object.entries({ one: "string", two: "number" })) {
      const params = { type: "object", properties: { red: { type } }, required: ["red"] };
      const handlers = [{ name: "acme.ndvi", description: "Vegetation", queue: "gpu", params }];
      await worker.registerWorker({ body: { worker_id, queues: ["gpu"], handlers } });
    }
    await opened.go("/handlers");
    await page.getByLabel("Filter").fill("acme");
    await row("acme.ndvi").getByText("conflict").waitFor();
    await page.getByRole("link", { name: "acme.ndvi" }).click();
    await page.getByText("Live workers offer 2 different contracts").waitFor();
    await page.getByRole("heading", { name: "Contract 2" }).waitFor();
    await page.getByText("number, required").waitFor();
    expect(await page.getByLabel("Example of a node", { exact: true }).first().innerText()).toBe(
      'nodes:\n  my_node:\n    handler: acme.ndvi\n    params:\n      red: "…"',
    );
    await row("gpu:one").waitFor();
    await row("gpu:two").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it("shows a catalogue beyond its first hundred items, by the names of the platform", async () => {
    const { db } = opened.database!;
    await ensureCollection(db, collectionOf("many"), { kind: "operator" });
    const items = Array.from({ length: 130 }, (_, at) =>
      itemOf("many", `item-${String(at).padStart(3, "0")}`, {
        bbox: [at / 10, 45, at / 10 + 0.1, 46],
        properties: at === 0 ? { "platform:dataset_id": "birds", "platform:version_id": "v1" } : {},
      }),
    );
    await upsertItems(db, "many", items, { kind: "operator" });
    await opened.go("/catalogue?collection=many");
    const entries = page.locator(".map-list .map-entry");
    await page.getByText("The first 100 of 130").waitFor();
    expect(await entries.count()).toBe(100);
    await page.getByRole("button", { name: "More items" }).click();
    await waitFor(async () => (await entries.count()) === 130, { what: "all items" });
    await entries.filter({ hasText: "birds · v1" }).waitFor();
    await opened.go("/fleet");
    await page.locator("tbody tr").first().waitFor();
  });

  it("has no serious barrier in the dark theme, and never broke the content policy", async () => {
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await seriousFindings(page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});
