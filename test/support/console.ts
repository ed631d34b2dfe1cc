/** The console as people use it: real processes, a real browser, and nothing in between. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Client } from "../../src/core/api/client.ts";
import { createClient } from "../../src/core/api/client.ts";
import { buildPages, launchBrowser } from "./browser.ts";
import type { TestDatabase } from "./database.ts";
import { createTestDatabase } from "./database.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { Site } from "./processes.ts";
import { endProcesses, root, startSite, temporaryFolder } from "./processes.ts";

export interface Console {
  readonly site: Site;
  /** Of the site, unless that has its own. */
  readonly database: TestDatabase | undefined;
  readonly token: string;
  readonly client: Client;
  readonly browser: Browser;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors that pages threw and breaches of the content policy, over all tests. */
  readonly complaints: readonly string[];
  readonly openPage: () => Promise<Page>;
  /** To an address of the console. */
  readonly go: (address: string) => Promise<void>;
  readonly submit: (workflowId: string, inputs?: JsonObject) => Promise<string>;
  readonly close: () => Promise<void>;
}

export interface ConsoleOptions {
  /** Workflows beside those that ship, by name. */
  readonly definitions?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** False: the browser has no session. */
  readonly signedIn?: boolean;
  /** With the server that `rmhdag up` finds and starts: with PostGIS where that is installed. */
  readonly ownServer?: boolean;
}

export async function openConsole({
  definitions = {},
  env = {},
  signedIn = true,
  ownServer = false,
}: ConsoleOptions = {}): Promise<Console> {
  await buildPages();
  const database = ownServer ? undefined : await createTestDatabase();
  const workflows = await temporaryFolder();
  for (const [name, text] of Object.entries(definitions)) {
    await writeFile(path.join(workflows, `${name}.yaml`), text);
  }
  const site = await startSite({
    env: {
      RMHDAG_WORKFLOWS: `${path.join(root, "workflows")},${workflows}`,
      ...(database === undefined ? {} : { DATABASE_URL: database.url }),
      ...env,
    },
  });
  const token = (await readFile(path.join(site.dataFolder, "cli-token"), "utf8")).trim();
  const client = createClient({ baseUrl: site.url, token, fetch });
  const browser = await launchBrowser();
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
  if (signedIn) {
    // The context's requests share the cookies of its pages.
    await context.request.post(`${site.url}/api/v1/session`, { data: { token } });
  }
  const complaints: string[] = [];

  async function openPage(): Promise<Page> {
    const opened = await context.newPage();
    opened.setDefaultTimeout(30_000);
    opened.on("pageerror", (error) => complaints.push(error.message));
    opened.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) complaints.push(message.text());
    });
    return opened;
  }

  const page = await openPage();
  return {
    site,
    database,
    token,
    client,
    browser,
    context,
    page,
    complaints,
    openPage,
    go: async (address) => {
      await page.goto(`${site.url}/ui${address}`);
    },
    submit: async (workflow_id, inputs = {}) =>
      (await client.submitJob({ body: { workflow_id, inputs } })).job_id,
    close: async () => {
      await browser.close();
      await endProcesses();
      await database?.drop();
    },
  };
}
