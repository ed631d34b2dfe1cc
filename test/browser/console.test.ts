/** What holds for every page: sign-in, keys, addresses, errors, accessibility, narrow screens. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium, seriousFindings } from "../support/browser.ts";
import type { Console } from "../support/console.ts";
import { openConsole } from "../support/console.ts";

const definitions = {
  doomed: `
nodes:
  prepare:
    handler: hello_world
  break:
    depends_on: prepare
    handler: fail
    params: {message: the disk is full}
`,
};

let opened: Console;
let page: Page;
const isOff = findChromium() === undefined;
const go = (address: string) => opened.go(address);

describe.skipIf(isOff)("the console (needs Chromium)", () => {
  beforeAll(async () => {
    opened = await openConsole({ definitions, signedIn: false });
    page = opened.page;
  }, 180_000);

  afterAll(async () => {
    await opened.close();
  }, 90_000);

  it("asks for a token, refuses a wrong one and accepts the right one", async () => {
    await go("");
    await page.getByLabel("Code or token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("The token is not known here.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel("Code or token").fill(opened.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
  });

  it("signs in by a link once, keeps its code out of the history, and shows who is signed in", async () => {
    const { url } = await opened.client.createLoginCode({ body: { next: "/ui/access" } });
    const other = await opened.browser.newContext();
    const guest = await other.newPage();
    await guest.goto(url);
    await guest.getByRole("heading", { name: "Access" }).waitFor();
    expect(guest.url()).toBe(`${opened.site.url}/ui/access`);
    expect(await seriousFindings(guest)).toEqual([]);
    const third = await opened.browser.newContext();
    const late = await third.newPage();
    await late.goto(url);
    await late.getByText("The code is wrong, was used already, or is too old").waitFor();
    await third.close();

    await go("/access");
    const row = page
      .getByRole("row")
      .filter({ hasNotText: "this one" })
      .filter({ hasText: "active" });
    await row.getByRole("button", { name: "End" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End" }).click();
    await page.getByText("The session is over").waitFor();
    await guest.getByRole("link", { name: "Jobs" }).click();
    await guest.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.close();
  });

  it("makes a token, shows it once, and revokes it", async () => {
    await go("/access");
    await page.getByRole("button", { name: "New token" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Used by").fill("nightly");
    await dialog.getByLabel("Role").selectOption("operate");
    await dialog.getByRole("button", { name: "New token" }).click();
    const shown = page.getByRole("dialog", { name: "The token nightly" });
    const token = /rmht_[\w-]{43}/.exec((await shown.textContent()) ?? "")?.[0];
    const headers = { authorization: `Bearer ${token ?? ""}` };
    const status = async () => (await fetch(`${opened.site.url}/api/v1/jobs`, { headers })).status;
    expect(await status()).toBe(200);
    await shown.getByRole("button", { name: "I have stored it" }).click();
    const row = page.getByRole("row").filter({ hasText: "nightly" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.getByText("revoked").waitFor();
    expect(await status()).toBe(401);
  });

  it("says what to do where nothing has run yet", async () => {
    await go("");
    await page.getByRole("link", { name: "Run hello_world" }).waitFor();
    await go("/jobs");
    await page.getByRole("heading", { name: "No jobs" }).waitFor();
    await go("/catalogue");
    await page.getByText("The catalogue is empty").waitFor();
    await go("/assets");
    await page.getByRole("heading", { name: "No assets" }).waitFor();
    await go("/fleet");
    await page.getByText("No platform has a key yet.").waitFor();
  });

  it("needs less than 400 kB of packed scripts for its first page, and no map", async () => {
    const first = await opened.openPage();
    const sizes = new Map<string, number>();
    first.on("response", (answer) => {
      if (!answer.url().endsWith(".js")) return;
      const { "content-length": length, "content-encoding": encoding } = answer.headers();
      expect(encoding).toBe("gzip");
      sizes.set(answer.url(), Number(length));
    });
    await first.goto(`${opened.site.url}/ui`);
    await first.locator(".chart canvas").waitFor();
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(400_000);
    expect([...sizes.keys()].filter((url) => /map|flow|elk/.test(url))).toEqual([]);
    await first.close();
  });

  it("is used with the keyboard alone", async () => {
    await opened.submit("doomed");
    await go("");
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    for (const [keys, heading] of [
      ["gj", "Jobs"],
      ["gw", "Workflows"],
      ["gf", "Fleet"],
      ["gs", "Access"],
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
    await page.locator('tbody .chip[data-status="failed"]').first().waitFor();
    await page.getByRole("button", { name: "Retry all" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It changes 1 job.").waitFor();
    await dialog.getByRole("button", { name: "Retry all" }).click();
    await page.getByText(/^1 job runs? again/).waitFor();
    const { items } = await opened.client.listJobs({ query: { workflow_id: "doomed" } });
    expect(items).toHaveLength(2);
    await page.getByLabel("Name of the view").fill("Doomed");
    await page.getByRole("button", { name: "Save" }).click();
    await go("/jobs");
    await page.getByRole("group", { name: "Saved views" }).getByText("Doomed").click();
    await page.waitForURL(/workflow_id=doomed/);
  });

  it("goes back and forward, and keeps a percent sign in a filter", async () => {
    await go(`/jobs?search=${encodeURIComponent("%41")}`);
    expect(await page.getByLabel("Any of these").inputValue()).toBe("%41");
    await go("/jobs?workflow_id=doomed");
    await page.getByRole("cell", { name: "doomed" }).getByRole("link").first().click();
    await page.waitForURL(/\/ui\/workflows\/doomed$/);
    await page.getByRole("link", { name: "Dashboard", exact: true }).click();
    await page.waitForURL(/\/ui$/);
    await page.goBack();
    await page.getByRole("heading", { name: "doomed", level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
    expect(page.url()).toMatch(/\/ui\/jobs\?workflow_id=doomed$/);
    expect(await page.getByLabel("Workflow", { exact: true }).inputValue()).toBe("doomed");
    await page.goForward();
    await page.getByRole("heading", { name: "doomed", level: 1 }).waitFor();
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
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    await opened.context.route("**/api/v1/**", (route) => route.abort());
    await go("/workflows");
    await page.getByText("The server does not answer").first().waitFor();
    await opened.context.unroute("**/api/v1/**");
    await page.getByRole("heading", { name: "Workflows" }).waitFor();
    await page.getByRole("link", { name: "Submit doomed" }).waitFor();
  });

  it("reads again what failed when the server is back, without a reload", async () => {
    await opened.context.route(/\/(?:api|stac)\//, (route) => route.abort());
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("heading", { name: "The server does not answer" }).waitFor();
    await opened.context.unroute(/\/(?:api|stac)\//);
    await page.getByText("The catalogue is empty").waitFor();
  });

  it("keeps an error on the screen while it polls", async () => {
    await opened.context.route("**/api/v1/queues/status", (route) =>
      route.fulfill({ status: 500 }),
    );
    await go("/fleet");
    await page.getByRole("heading", { name: "The server does not answer" }).waitFor();
    await page.evaluate(`
      window.blinks = 0;
      new MutationObserver(() => {
        if (document.querySelector("[aria-label='Loading the queues']") !== null) window.blinks += 1;
      }).observe(document.body, { childList: true, subtree: true });
    `);
    for (let poll = 0; poll < 2; poll += 1) await page.waitForResponse("**/api/v1/queues/status");
    expect(await page.evaluate("window.blinks")).toBe(0);
    await opened.context.unroute("**/api/v1/queues/status");
    await page.getByRole("cell", { name: "functionapp-tasks" }).first().waitFor();
  });

  it.each(["light", "dark"] as const)(
    "has no serious barrier on any page, %s",
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      const [job] = (await opened.client.listJobs({ query: { workflow_id: "doomed", limit: 1 } }))
        .items;
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
        ["/handlers", "tbody tr"],
        ["/handlers/raster.create_cog", "tbody tr"],
        ["/validate", "textarea"],
        ["/nodes?status=failed", "tbody tr"],
        ["/tasks", ".histogram-bar"],
        ["/lineage", ".notice"],
        ["/h3", ".notice"],
        ["/fleet", "tbody tr"],
        ["/access", "tbody tr"],
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

  it("finds nodes by handler, worker and error, and retries one", async () => {
    await go("/nodes?handler=fail&error=DISK+IS+FULL");
    const row = page.getByRole("row").filter({ hasText: "the disk is full" });
    await row.first().waitFor();
    const worker = await row.first().getByRole("cell").nth(4).innerText();
    await go(`/nodes?status=failed&worker_id=${encodeURIComponent(worker)}`);
    await row.first().getByRole("button", { name: "Retry" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry" }).click();
    await page.getByText(/Job .* runs from this node on/).waitFor();
    await page.getByLabel("Error").fill("no such error");
    await page.getByLabel("Error").press("Enter");
    await page.getByText("No such nodes").waitFor();
  });

  it("shows tasks by worker, and how long they took", async () => {
    await go("/tasks?status=failed");
    await page.getByRole("row").filter({ hasText: "the disk is full" }).first().waitFor();
    await page.getByRole("row").nth(1).getByRole("link").nth(1).click();
    await page.waitForURL(/worker_id=/);
    await page.getByRole("heading", { name: /Durations of the \d+ tasks below/ }).waitFor();
    // Long ids are broken, so that the errors behind them are in sight.
    for (const [address, width] of [
      ["/tasks?status=failed", 1024],
      ["/nodes?status=failed", 1280],
    ] as const) {
      await go(address);
      const table = page.locator(".table-box", { hasText: "the disk is full" });
      await table.waitFor();
      await page.setViewportSize({ width, height: 800 });
      const hidden = await table.evaluate(
        ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
      );
      expect({ address, hidden }).toEqual({ address, hidden: 0 });
    }
    await page.setViewportSize({ width: 1360, height: 860 });
  });

  it("asks for a token when the session has ended, and returns to the same page", async () => {
    await go("/jobs");
    await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
    const cookies = await opened.context.cookies();
    await opened.context.clearCookies();
    await page.keyboard.press("r");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await opened.context.addCookies(cookies);
    await page.reload();
    await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
  });

  it("fits a telephone", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const address of [
      "",
      "/jobs",
      "/nodes",
      "/tasks",
      "/lineage",
      "/h3",
      "/workflows",
      "/fleet",
      "/access",
    ]) {
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
    expect(opened.complaints).toEqual([]);
  });
});
