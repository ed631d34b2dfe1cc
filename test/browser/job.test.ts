/** The job page: from the form to the end of a job, with live updates. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../support/browser.ts";
import type { Console } from "../support/console.ts";
import { openConsole } from "../support/console.ts";
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

let opened: Console;
let page: Page;
const isOff = findChromium() === undefined;
const go = (address: string) => opened.go(address);
const chip = (status: string) => page.locator(`h1 .chip[data-status="${status}"]`);

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds of processor time of the thread, so that other load on the machine does not count. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Milliseconds of the longest task of the main threads: the time that a click may have to wait. */
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

describe.skipIf(isOff)("jobs in the console (needs Chromium)", () => {
  beforeAll(async () => {
    opened = await openConsole({ definitions, env: { LEASE_SEC: "2" } });
    page = opened.page;
  }, 180_000);

  afterAll(async () => {
    await opened.close();
  }, 90_000);

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

  it("shows a failure first, and retries it as a new job", async () => {
    const job = await opened.submit("doomed");
    await go(`/jobs/${job}`);
    await chip("failed").waitFor();
    const banner = page.getByRole("alert").filter({ hasText: "the disk is full" });
    await banner.waitFor();
    await banner.getByRole("button", { name: "Open" }).click();
    await page.getByLabel("Node break").getByText("the disk is full").first().waitFor();
    await page.getByRole("button", { name: "Retry failed" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry failed" }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(job));
    await page.getByText("Rerun of", { exact: true }).waitFor();
    await page
      .locator(".job-facts")
      .getByRole("link", { name: job.slice(-8) })
      .waitFor();
  });

  it("continues by itself when the orchestrator is back", async () => {
    const job = await opened.submit("nap", { seconds: 12 });
    await go(`/jobs/${job}`);
    await page.locator('.flow-node[data-status="running"]', { hasText: "rest" }).waitFor();
    const [, pid] = [...opened.site.up.stdout().matchAll(/orchestrator\[(\d+)\]/g)].at(-1) ?? [];
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
    const job = await opened.submit("wide", { things });
    const wide = await opened.openPage();
    await wide.goto(`${opened.site.url}/ui/jobs/${job}`);
    await wide
      .getByText("of 10,001 nodes")
      .or(wide.getByText(/of 10,00\d nodes/))
      .first()
      .waitFor();
    await wide.locator(".flow-node", { hasText: "spread" }).waitFor();
    await opened.browser.startTracing(wide, {
      categories: ["toplevel", "disabled-by-default-devtools.timeline"],
    });
    await wide.locator(".flow-node", { hasText: "spread" }).click();
    const panel = wide.getByLabel("Node spread");
    await panel.getByRole("button", { name: /^completed/ }).click();
    const list = panel.getByRole("list", { name: "Children of spread" });
    await list.locator(".child-row").first().waitFor();
    await wide.evaluate("document.querySelector('.virtual').scrollTo(0, 4000)");
    for (const name of ["Gantt", "Table", "Events", "Graph"]) {
      await wide.getByRole("tab", { name }).click();
    }
    await wide.locator(".event-row, .flow-node").first().waitFor();
    const elements = await wide.evaluate("document.querySelectorAll('*').length");
    expect(elements).toBeLessThan(3000);
    const longest = longestTask(await opened.browser.stopTracing());
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(100);
    await opened.client.cancelJob({ params: { job_id: job } });
    await wide.locator('h1 .chip[data-status="cancelled"]').waitFor();
    await wide.close();
  }, 120_000);

  it("never broke its own content policy, nor threw", () => {
    expect(opened.complaints).toEqual([]);
  });
});
