/** The console as people use it: real processes, a real browser, and nothing in between. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/core/api/client.ts";
import type { Client } from "../../src/core/api/client.ts";
import { buildPages, findChromium, launchBrowser, seriousFindings } from "../support/browser.ts";
import type { Site } from "../support/processes.ts";
import { endProcesses, root, startSite, temporaryFolder } from "../support/processes.ts";
import { waitFor } from "../support/wait.ts";

const definitions = {
  nap: `
inputs:
  seconds: {type: number, default: 1}
nodes:
  rest:
    handler: sleep
    params: {seconds: "{{ inputs.seconds }}"}
  after:
    depends_on: rest
    handler: hello_world
`,
  doomed: `
nodes:
  prepare:
    handler: hello_world
  break:
    depends_on: prepare
    handler: fail
    params: {message: the disk is full}
`,
  wide: `
inputs:
  things: {type: array, required: true}
nodes:
  spread:
    type: fan_out
    source: "{{ inputs.things }}"
    task:
      handler: sleep
      params: {seconds: 0.05}
    next: gather
  gather:
    type: fan_in
    aggregation: collect
`,
};

let site: Site;
let token: string;
let client: Client;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** What the browser complained of, over all tests. */
const complaints: string[] = [];

const isOff = findChromium() === undefined;

async function openPage(): Promise<Page> {
  const opened = await context.newPage();
  opened.setDefaultTimeout(30_000);
  opened.on("pageerror", (error) => complaints.push(error.message));
  opened.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) complaints.push(message.text());
  });
  return opened;
}

async function go(address: string): Promise<void> {
  await page.goto(`${site.url}/ui${address}`);
}

async function submit(workflow_id: string, inputs = {}): Promise<string> {
  return (await client.submitJob({ body: { workflow_id, inputs } })).job_id;
}

const chip = (status: string) => page.locator(`h1 .chip[data-status="${status}"]`);

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds that the thread itself worked: what others take of the machine is not in it. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Milliseconds of the longest task of any page: how long a click may have to wait. */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => name === "RunTask" && ph === "X" && threads.has(`${pid}/${tid}`),
  );
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1000));
}

describe.skipIf(isOff)("the console (skipped where there is no Chromium)", () => {
  beforeAll(async () => {
    await buildPages();
    const workflows = await temporaryFolder();
    for (const [name, text] of Object.entries(definitions)) {
      await writeFile(path.join(workflows, `${name}.yaml`), text);
    }
    site = await startSite({
      env: { RMHDAG_WORKFLOWS: `${path.join(root, "workflows")},${workflows}`, LEASE_SEC: "2" },
    });
    token = (await readFile(path.join(site.dataFolder, "cli-token"), "utf8")).trim();
    client = createClient({ baseUrl: site.url, token, fetch });
    browser = await launchBrowser();
    context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
    page = await openPage();
  }, 180_000);

  afterAll(async () => {
    await browser.close();
    await endProcesses();
  }, 90_000);

  it("asks who is there, refuses a wrong token and takes the right one", async () => {
    await go("");
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The token is not known here.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
  });

  it("says what to do where nothing has run yet", async () => {
    await page.getByRole("link", { name: "Run hello_world" }).waitFor();
    await go("/jobs");
    await page.getByRole("heading", { name: "No jobs" }).waitFor();
    await go("/catalogue");
    await page.getByText("The catalogue is empty").waitFor();
  });

  it("needs less than 400 kB of packed scripts for its first page, and no map", async () => {
    const first = await openPage();
    const sizes = new Map<string, number>();
    first.on("response", (answer) => {
      if (!answer.url().endsWith(".js")) return;
      const { "content-length": length, "content-encoding": encoding } = answer.headers();
      expect(encoding).toBe("gzip");
      sizes.set(answer.url(), Number(length));
    });
    await first.goto(`${site.url}/ui`);
    await first.locator(".chart canvas").waitFor();
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(400_000);
    expect([...sizes.keys()].filter((url) => /map|flow|elk/.test(url))).toEqual([]);
    await first.close();
  });

  it("submits from the form, and the graph turns green", async () => {
    await go("/workflows");
    await page.getByRole("link", { name: "Submit nap" }).click();
    await page.getByLabel(/seconds/).fill("5");
    await page.getByRole("button", { name: "Submit" }).click();
    await page.waitForURL(/\/ui\/jobs\/[0-9a-f]/);
    const rest = page.locator(".flow-node", { hasText: "rest" });
    const after = page.locator(".flow-node", { hasText: "after" });
    await page.locator('.flow-node[data-status="running"]', { hasText: "rest" }).waitFor();
    expect(await after.getAttribute("data-status")).toBe("pending");
    await page.locator('.flow-node[data-status="completed"]', { hasText: "after" }).waitFor();
    expect(await rest.getAttribute("data-status")).toBe("completed");
    await chip("completed").waitFor();
  });

  it("shows a node's data, and evaluates an expression against it", async () => {
    await page.locator(".flow-node", { hasText: "after" }).click();
    const panel = page.getByLabel("Node after");
    await panel.getByRole("tab", { name: "Data" }).click();
    await panel.getByText("Hello, World").first().waitFor();
    await panel.getByRole("tab", { name: "Try" }).click();
    await panel.getByLabel(/Expression/).fill("{{ nodes.rest.output.slept_seconds + 37 }}");
    await panel.getByRole("button", { name: "Evaluate" }).click();
    await panel.locator("pre", { hasText: /^42$/ }).waitFor();
  });

  it("submits nothing that does not fit the workflow, and says why", async () => {
    await go("/workflows/conditional_test/submit");
    await page.getByLabel(/size_mb/).fill("-5");
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByText("Nothing was submitted.").waitFor();
    expect(await page.getByRole("alert").textContent()).toMatch(/size_mb/);
    expect(page.url()).toContain("/submit");
  });

  it("puts a failure first, and runs it again as a new job", async () => {
    const job = await submit("doomed");
    await go(`/jobs/${job}`);
    await chip("failed").waitFor();
    const banner = page.getByRole("alert").filter({ hasText: "the disk is full" });
    await banner.waitFor();
    await banner.getByRole("button", { name: "Open" }).click();
    await page.getByLabel("Node break").getByText("the disk is full").first().waitFor();
    await page.getByRole("button", { name: "Retry failed" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry failed" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(job));
    await page.getByText("Runs again", { exact: true }).waitFor();
    await page
      .locator(".job-facts")
      .getByRole("link", { name: job.slice(0, 8) })
      .waitFor();
  });

  it("goes on by itself when the orchestrator comes back", async () => {
    const job = await submit("nap", { seconds: 12 });
    await go(`/jobs/${job}`);
    await page.locator('.flow-node[data-status="running"]', { hasText: "rest" }).waitFor();
    const [, pid] = [...site.up.stdout().matchAll(/orchestrator\[(\d+)\]/g)].at(-1) ?? [];
    process.kill(Number(pid), "SIGKILL");
    await page.getByText("reconnecting").waitFor();
    await chip("completed").waitFor({ timeout: 60_000 });
    await page.locator('.flow-node[data-status="completed"]', { hasText: "after" }).waitFor();
    await waitFor(async () => (await page.locator(".banner").count()) === 0, {
      what: "the end of the banner",
    });
  }, 90_000);

  it("stays quick with ten thousand children", async () => {
    const things = Array.from({ length: 10_000 }, (_, index) => index);
    const job = await submit("wide", { things });
    const wide = await openPage();
    await wide.goto(`${site.url}/ui/jobs/${job}`);
    await wide
      .getByText("of 10,001 nodes")
      .or(wide.getByText(/of 10,00\d nodes/))
      .first()
      .waitFor();
    await wide.locator(".flow-node", { hasText: "spread" }).waitFor();
    await browser.startTracing(wide, {
      categories: ["toplevel", "disabled-by-default-devtools.timeline"],
    });
    await wide.locator(".flow-node", { hasText: "spread" }).click();
    const panel = wide.getByLabel("Node spread");
    await panel.getByRole("button", { name: /^completed/ }).click();
    const list = panel.getByRole("list", { name: "Children of spread" });
    await list.locator(".child-row").first().waitFor();
    await list.evaluate("element => element.scrollTo(0, 4000)");
    for (const name of ["Gantt", "Table", "Events", "Graph"]) {
      await wide.getByRole("tab", { name }).click();
    }
    await wide.locator(".event-row, .flow-node").first().waitFor();
    const elements = await wide.evaluate("document.querySelectorAll('*').length");
    expect(elements).toBeLessThan(3000);
    const longest = longestTask(await browser.stopTracing());
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(100);
    await client.cancelJob({ params: { job_id: job } });
    await wide.locator('h1 .chip[data-status="cancelled"]').waitFor();
    await wide.close();
  }, 120_000);

  it("is used with the keyboard alone", async () => {
    await go("");
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    for (const [keys, heading] of [
      ["gj", "Jobs"],
      ["gw", "Workflows"],
      ["gf", "Fleet"],
      ["gc", "Catalogue"],
      ["ga", "Assets"],
      ["gh", "Dashboard"],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("doomed");
    await page.keyboard.press("Enter");
    await page.waitForURL(/search=doomed/);
    await page.getByRole("cell", { name: "doomed" }).first().waitFor();
  });

  it("keeps filters in the address, counts before it changes many, and saves a view", async () => {
    await go("/jobs?workflow_id=doomed&status=failed");
    await page.getByRole("cell", { name: "doomed" }).first().waitFor();
    await page.getByRole("button", { name: "Retry all" }).click();
    await page
      .getByRole("dialog")
      .getByText(/It changes \d+ jobs?/)
      .waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Name of the view").fill("Doomed");
    await page.getByRole("button", { name: "Save" }).click();
    await go("/jobs");
    await page.getByRole("group", { name: "Saved views" }).getByText("Doomed").click();
    await page.waitForURL(/workflow_id=doomed/);
  });

  it("checks a definition and names the line of each finding", async () => {
    await go("/validate");
    await page.getByLabel(/Definition/).fill("nodes:\n  a:\n    handler: no_such_handler\n");
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByRole("button", { name: /^3:/ }).waitFor();
  });

  it("has a page for what is not there and for a server that is gone", async () => {
    await go("/nonsense");
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await go("/jobs/unknown-job");
    await page.getByRole("heading", { name: "There is no such thing here" }).waitFor();
    await context.route("**/api/v1/**", (route) => route.abort());
    await go("/workflows");
    await page.getByText("The server does not answer").first().waitFor();
    await context.unroute("**/api/v1/**");
    await page.getByRole("heading", { name: "Workflows" }).waitFor();
    await page.getByRole("link", { name: "Submit nap" }).waitFor();
  });

  it.each(["light", "dark"] as const)(
    "has no serious barrier on any page, %s",
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      const [job] = (await client.listJobs({ query: { workflow_id: "doomed", limit: 1 } })).items;
      const pages: [string, string][] = [
        ["", ".chart canvas"],
        ["/jobs", "tbody tr"],
        [`/jobs/${job!.job_id}?node=break`, ".flow-node"],
        [`/jobs/${job!.job_id}?view=gantt`, ".gantt-bar"],
        [`/jobs/${job!.job_id}?view=table`, "tbody tr"],
        [`/jobs/${job!.job_id}?view=events`, ".event-row"],
        ["/workflows", "tbody tr"],
        ["/workflows/doomed", ".flow-node"],
        ["/workflows/doomed?tab=runs", ".cell"],
        ["/workflows/doomed?tab=definition", ".source li"],
        ["/workflows/conditional_test/submit", "form .field"],
        ["/validate", "textarea"],
        ["/fleet", "tbody tr"],
        ["/catalogue", ".notice"],
        ["/assets", ".notice"],
        ["/nonsense", ".notice"],
      ];
      // Colours are all that dark changes, and the first pages have all of them.
      for (const [address, sign] of scheme === "light" ? pages : pages.slice(0, 6)) {
        await go(address);
        await page.locator(sign).first().waitFor();
        expect({ address, findings: await seriousFindings(page) }).toEqual({
          address,
          findings: [],
        });
      }
    },
    120_000,
  );

  it("fits a telephone", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const address of ["", "/jobs", "/workflows", "/fleet"]) {
      await go(address);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const wide: boolean = await page.evaluate(
        "document.documentElement.scrollWidth > window.innerWidth",
      );
      expect({ address, wide }).toEqual({ address, wide: false });
    }
    await page.setViewportSize({ width: 1360, height: 860 });
  });

  it("never broke its own content policy, nor threw", () => {
    expect(complaints).toEqual([]);
  });
});
