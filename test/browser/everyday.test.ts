/** What operators meet every day: long lists, ends of jobs, forms, graphs, narrow screens, outages. */
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium } from "../support/browser.ts";
import type { Console } from "../support/console.ts";
import { openConsole } from "../support/console.ts";
import { waitFor } from "../support/wait.ts";

const steps = Array.from({ length: 14 }, (_, at) => at);

/** Nodes that run one after the other. */
function stepsText(count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const after = at === 0 ? "" : `\n    depends_on: step_${at - 1}`;
    return `  step_${at}:\n    handler: hello_world${after}`;
  }).join("\n");
}

const definitions = {
  nap: `
inputs:
  seconds: {type: number, default: 1}
nodes:
  rest:
    handler: sleep
    params: {seconds: "{{ inputs.seconds }}"}
`,
  stubborn: `
nodes:
  prepare:
    handler: hello_world
  break:
    depends_on: prepare
    handler: fail
    params: {message: the disk is full, category: transient}
    retry: {max_attempts: 2, initial_delay_seconds: 0.1}
  never:
    depends_on: break
    handler: hello_world
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
      params: {seconds: 0.02}
    next: gather
  gather:
    type: fan_in
    aggregation: collect
`,
  chain: `
inputs:
  zz: {type: string, default: x}
  a_rather_long_name: {type: string, required: true}
  list: {type: array, default: [1]}
  b: {type: integer, required: true, minimum: 1}
nodes:
${stepsText(steps.length)}
`,
  long: `nodes:\n${stepsText(70)}\n`,
  bush: `nodes:\n  begin:\n    handler: hello_world\n${Array.from(
    { length: 18 },
    (_, at) => `  tile_${at}:\n    handler: hello_world\n    depends_on: begin\n`,
  ).join("")}`,
};

const isOff = findChromium() === undefined;
let opened: Console;
let page: Page;
const jobs: Record<"chain" | "wide" | "stubborn" | "cancelled", string> = {
  chain: "",
  wide: "",
  stubborn: "",
  cancelled: "",
};

const chip = (status: string): Locator => page.locator(`h1 .chip[data-status="${status}"]`);
const progress = async (): Promise<string> =>
  (await page.getByTestId("progress").textContent()) ?? "";

async function ended(job_id: string): Promise<void> {
  await waitFor(
    async () => (await opened.client.getJob({ params: { job_id } })).completed_at !== null,
    { what: `the end of ${job_id}`, timeoutMs: 60_000, isFinal: true },
  );
}

/** The smallest text of the graph on the screen, in pixels, and the zoom. */
async function readGraph(): Promise<{ smallest: number; zoom: number }> {
  await page.locator(".flow[data-laid] .flow-node").first().waitFor();
  return page.evaluate(`(() => {
    const view = document.querySelector(".react-flow__viewport");
    const zoom = new DOMMatrix(getComputedStyle(view).transform).a;
    const sizes = [...document.querySelectorAll(".flow-node *, .flow-label")]
      .filter((each) => each.checkVisibility() && each.textContent !== "")
      .map((each) => parseFloat(getComputedStyle(each).fontSize) * zoom);
    return { zoom, smallest: Math.min(...sizes) };
  })()`);
}

/** Whether each node of the graph is in view as a whole. */
async function seesAll(): Promise<boolean> {
  return page.evaluate(`(() => {
    const box = document.querySelector(".flow").getBoundingClientRect();
    return [...document.querySelectorAll(".flow-node")].every((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return left >= box.left && right <= box.right && top >= box.top && bottom <= box.bottom;
    });
  })()`);
}

async function signInAgain(): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("Code or token").fill(opened.token);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "detached" });
}

describe.skipIf(isOff)("every day in the console (needs Chromium)", () => {
  beforeAll(async () => {
    opened = await openConsole({ definitions });
    page = opened.page;
    await page.setViewportSize({ width: 1440, height: 900 });
    const { submit, client } = opened;
    jobs.chain = await submit("chain", { a_rather_long_name: "x", b: 1 });
    jobs.wide = await submit("wide", { things: Array.from({ length: 60 }, (_, at) => at) });
    jobs.stubborn = await submit("stubborn");
    jobs.cancelled = await submit("nap", { seconds: 500 });
    await client.cancelJob({
      params: { job_id: jobs.cancelled },
      body: { reason: "a wrong file" },
    });
    for (const job of Object.values(jobs)) await ended(job);
  }, 180_000);

  afterAll(async () => {
    await opened.close();
  }, 90_000);

  it("fills its lists: events and children beyond the first six", async () => {
    await opened.go(`/jobs/${jobs.chain}?view=events`);
    await page.locator(".event-row").nth(11).waitFor();
    await opened.go(`/jobs/${jobs.wide}?node=spread`);
    const list = page.getByRole("list", { name: "Children of spread" });
    await list.locator(".child-row").nth(11).waitFor();
    await page.evaluate("document.querySelector('.virtual').scrollTo(0, 1e6)");
    await list.getByText("#59", { exact: true }).waitFor();
  });

  it("shows a fan-out in the Gantt chart while it is closed", async () => {
    await opened.go(`/jobs/${jobs.wide}?view=gantt`);
    const bar = page.locator(".gantt-row", { hasText: "spread" }).locator(".gantt-bar.run");
    await waitFor(async () => ((await bar.boundingBox())?.width ?? 0) > 20, { what: "a bar" });
  });

  it("does not call a cancelled job failed", async () => {
    await opened.go(`/jobs/${jobs.cancelled}`);
    await chip("cancelled").waitFor();
    const why = page.getByRole("status").filter({ hasText: "The job was cancelled" });
    await why.getByText("a wrong file").waitFor();
    expect(await page.getByRole("main").textContent()).not.toMatch(/failed/i);
    await opened.go("/jobs?status=cancelled");
    await page.getByText("a wrong file").waitFor();
    expect(await page.locator("td .error-text", { hasText: "a wrong file" }).count()).toBe(0);
  });

  it("gives a failed job no share of 100 %, and counts attempts alike everywhere", async () => {
    await opened.go(`/jobs/${jobs.stubborn}?node=break`);
    await chip("failed").waitFor();
    expect(await progress()).toMatch(/^failed after 3 of 5 nodes · 1 failed/);
    await page.getByText("break failed after 3 attempts").waitFor();
    const panel = page.getByLabel("Node break");
    await panel.getByText("Attempts (3)").waitFor();
    const numbers = await panel.locator(".attempt strong").allTextContents();
    expect([...numbers].sort()).toEqual(["1", "2", "3"]);
    await page.locator(".flow-node-tries", { hasText: "×3" }).waitFor();
    await page.getByRole("tab", { name: "Table" }).click();
    const row = page.locator("tbody tr", { hasText: "break" }).first();
    expect(await row.locator("td").nth(4).textContent()).toBe("3");
  });

  it("links a job with the jobs that run it again", async () => {
    const { job_id } = await opened.client.retryJob({ params: { job_id: jobs.stubborn } });
    await opened.go(`/jobs/${jobs.stubborn}`);
    const facts = page.locator(".job-facts");
    await facts.getByRole("link", { name: job_id.slice(-8) }).click();
    await page.waitForURL(`**/ui/jobs/${job_id}`);
    await facts.getByRole("link", { name: jobs.stubborn.slice(-8) }).waitFor();
  });

  it("draws a graph that can be read at first sight, and again when the panel opens", async () => {
    await opened.go(`/jobs/${jobs.chain}`);
    expect((await readGraph()).smallest).toBeGreaterThanOrEqual(11);
    expect(await page.locator(".flow-node").count()).toBe(steps.length + 2);
    await waitFor(seesAll, { what: "all of the chain, in lines" });
    await page.locator(".flow-node", { hasText: "step_13" }).click();
    await page.getByLabel("Node step_13").waitFor();
    // The panel takes a third of the width, and less room is left for the graph.
    await waitFor(
      async () => {
        const box = await page.locator(".flow").boundingBox();
        return box !== null && box.width < 800 && (await seesAll());
      },
      { what: "all of the graph beside the panel" },
    );
    expect((await readGraph()).smallest).toBeGreaterThanOrEqual(11);
    await page.locator('.flow-node[aria-pressed="true"]', { hasText: "step_13" }).waitFor();
  });

  it("zooms with the wheel, and maps what is out of view", async () => {
    await opened.go("/workflows/chain");
    const { zoom } = await readGraph();
    expect(await page.locator(".react-flow__minimap").count()).toBe(0);
    await page.locator(".flow").hover({ position: { x: 30, y: 30 } });
    await page.mouse.wheel(0, -600);
    await page.locator(".react-flow__minimap").waitFor();
    expect((await readGraph()).zoom).toBeGreaterThan(zoom);
  });

  it("folds long chains and wide rows, and opens them", async () => {
    await opened.go("/workflows/long");
    const chain = page.locator(".flow-node", { hasText: "66 more steps" });
    await chain.waitFor();
    expect((await readGraph()).smallest).toBeGreaterThanOrEqual(11);
    await chain.click();
    await page.locator(".flow-node", { hasText: "step_35" }).waitFor({ state: "attached" });
    expect((await readGraph()).smallest).toBeGreaterThanOrEqual(11);
    await page.getByRole("button", { name: "Fold again" }).click();
    await chain.waitFor();

    await opened.go("/workflows/bush");
    await page.locator(".flow-node", { hasText: "15 more of these" }).waitFor();
    expect((await readGraph()).smallest).toBeGreaterThanOrEqual(11);
    expect(await seesAll()).toBe(true);
  });

  it("opens the fold of a node that is linked to", async () => {
    const job = await opened.submit("bush");
    await ended(job);
    await opened.go(`/jobs/${job}?node=tile_17`);
    const chosen = page.locator('.flow-node[aria-pressed="true"]', { hasText: "tile_17" });
    await chosen.waitFor();
    await waitFor(
      async () => {
        const [node, box] = [await chosen.boundingBox(), await page.locator(".flow").boundingBox()];
        if (node === null || box === null) return false;
        return node.y >= box.y && node.y + node.height <= box.y + box.height;
      },
      { what: "the chosen node in view" },
    );
  });

  it("writes the conditions beside their edges", async () => {
    await opened.go("/workflows/conditional_test");
    await readGraph();
    await page.locator(".flow-label").first().waitFor();
    const distances = await page.evaluate<number[]>(`(() => {
      const paths = [...document.querySelectorAll(".react-flow__edge-path")];
      const points = paths.flatMap((path) => {
        const length = path.getTotalLength();
        return Array.from({ length: 200 }, (_, at) =>
          path.getPointAtLength((at / 199) * length).matrixTransform(path.getScreenCTM()));
      });
      return [...document.querySelectorAll(".flow-label")].map((label) => {
        const box = label.getBoundingClientRect();
        const far = ({ x, y }) => Math.hypot(
          Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
        return Math.min(...points.map(far));
      });
    })()`);
    expect(distances.length).toBeGreaterThan(2);
    for (const distance of distances) {
      expect(distance).toBeGreaterThan(0);
      expect(distance).toBeLessThan(12);
    }
  });

  it("asks for inputs in the order of the file, the required first, with errors at the field", async () => {
    await opened.go("/workflows/chain/submit");
    const labels = page.locator("form .field label");
    await labels.first().waitFor();
    const names = (await labels.allTextContents()).map((text) => text.split(" ")[0]);
    expect(names.slice(0, 4)).toEqual(["a_rather_long_name", "b", "zz", "list"]);
    await page.getByLabel(/a_rather_long_name/).fill("something");
    await page.getByLabel(/^b /).fill("-5");
    await page.setViewportSize({ width: 1440, height: 400 });
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByText("Nothing was submitted.").waitFor();
    const wrong = page.getByLabel(/^b /);
    expect(await wrong.getAttribute("id")).toBe(await page.evaluate("document.activeElement.id"));
    const about = page.locator(`[id="${(await wrong.getAttribute("aria-describedby")) ?? ""}"]`);
    expect(await about.getAttribute("class")).toBe("error-text");
    // Text and border have the colour of an error; the star of a required field has it too.
    const colours = await page.evaluate<Record<string, string>>(`(() => {
      const wrong = document.activeElement;
      const text = document.getElementById(wrong.getAttribute("aria-describedby"));
      const fine = document.querySelector('form .field input[aria-invalid="false"]');
      return {
        star: getComputedStyle(document.querySelector(".field label .error-text")).color,
        text: getComputedStyle(text).color,
        border: getComputedStyle(wrong).borderTopColor,
        usual: getComputedStyle(fine).borderTopColor,
      };
    })()`);
    expect(colours["text"]).toBe(colours["star"]);
    expect(colours["border"]).not.toBe(colours["usual"]);
    const box = await about.boundingBox();
    expect(box!.y > 0 && box!.y + box!.height <= 400).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("keeps what was typed from JSON to the form, and when the session ends", async () => {
    await page.getByRole("tab", { name: "JSON" }).click();
    const json = page.getByLabel("Inputs as JSON");
    await json.fill('{"a_rather_long_name": "from JSON", "b": 7}');
    await page.getByRole("tab", { name: "Form" }).click();
    expect(await page.getByLabel(/a_rather_long_name/).inputValue()).toBe("from JSON");
    await page.getByLabel(/^zz /).fill("typed for a long time");
    await opened.context.clearCookies();
    await page.getByRole("button", { name: "Submit" }).click();
    await signInAgain();
    const kept = page.getByLabel(/^zz /);
    await kept.waitFor();
    expect(await kept.inputValue()).toBe("typed for a long time");
    expect(await page.getByLabel(/^b /).inputValue()).toBe("7");
    await page.getByRole("button", { name: "Submit" }).click();
    await page.waitForURL(/\/ui\/jobs\/[0-9a-f]/);
    await opened.go("/workflows/chain/submit");
    await kept.waitFor();
    expect(await kept.inputValue()).toBe("x");
  });

  it("keeps a page with all that was typed when the session ends, also an open dialog", async () => {
    await opened.go("/validate");
    const text = page.getByLabel(/Definition/);
    await text.fill("nodes: {typed: for a long time}");
    await opened.context.clearCookies();
    await page.getByRole("button", { name: "Check" }).click();
    await signInAgain();
    expect(await text.inputValue()).toBe("nodes: {typed: for a long time}");
    await page.getByRole("button", { name: "Check" }).click();
    await page.locator(".finding").first().waitFor();

    const job = await opened.submit("nap", { seconds: 300 });
    await opened.go(`/jobs/${job}`);
    await page.getByRole("button", { name: "Cancel" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel this job?" });
    await dialog.getByLabel(/Reason/).fill("a reason of many words");
    await opened.context.clearCookies();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await signInAgain();
    expect(await dialog.getByLabel(/Reason/).inputValue()).toBe("a reason of many words");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    // The stream of the job goes on too.
    await chip("cancelled").waitFor();
  });

  it("gives the focus back after a dialog, or to the page if the button is gone", async () => {
    const job = await opened.submit("nap", { seconds: 300 });
    await opened.go(`/jobs/${job}`);
    const focused = () => page.evaluate<string>("document.activeElement.textContent.trim()");
    const pause = page.getByRole("button", { name: "Pause" });
    for (const leave of ["Escape", "Keep as it is"]) {
      await pause.click();
      await page.getByRole("dialog").waitFor();
      if (leave === "Escape") await page.keyboard.press("Escape");
      else await page.getByRole("button", { name: leave }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await waitFor(async () => (await focused()) === "Pause", {
        what: `the focus after ${leave}`,
      });
    }
    await page.locator(".flow-node", { hasText: "rest" }).click();
    await page.getByRole("button", { name: "Close the panel" }).click();
    await waitFor(async () => (await focused()).includes("rest"), {
      what: "the focus on the node",
    });
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await chip("cancelled").waitFor();
    await waitFor(async () => page.evaluate<boolean>("document.activeElement.id === 'main'"), {
      what: "the focus on the page",
    });
  });

  it("says how much a queue can run, why its tasks wait, and which they are", async () => {
    const naps = await Promise.all(
      Array.from({ length: 11 }, () => opened.submit("nap", { seconds: 300 })),
    );
    await opened.go("/");
    await page
      .locator(".parts-list li", { hasText: "workers" })
      .getByText("full", { exact: true })
      .waitFor();
    const summary = page.locator("tbody tr", { hasText: "dag-worker-tasks" });
    await summary.getByText(/slots run a task/).waitFor();
    expect(await summary.textContent()).toMatch(/(\d+) of \1/);
    await opened.go("/fleet");
    const queue = page.locator("tbody tr", { hasText: "dag-worker-tasks" }).filter({
      hasText: /slots run a task/,
    });
    await queue.waitFor();
    expect(await queue.textContent()).toMatch(/(\d+) of \1 slots/);
    await queue.getByRole("link", { name: /waiting tasks of dag-worker-tasks/ }).click();
    const waiting = page.locator(".card", { hasText: "Waiting tasks of dag-worker-tasks" });
    await waiting.getByRole("link", { name: "rest" }).first().waitFor();
    for (const job_id of naps) await opened.client.cancelJob({ params: { job_id } });
  });

  it("writes dates the same for every language, year first", async () => {
    await opened.go(`/jobs/${jobs.chain}`);
    const time = page.locator(".job-facts time").first();
    expect(await time.textContent()).toMatch(/^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  it.each([1024, 390])("loses no column and no button at %i pixels", async (width) => {
    await page.setViewportSize({ width, height: 800 });
    const pages = ["/jobs", "/fleet", "/workflows", "/", `/jobs/${jobs.stubborn}?view=table`];
    for (const address of pages) {
      await opened.go(address);
      await page.locator("tbody tr").first().waitFor();
      const found = await page.evaluate<{ hidden: number; cut: number; wide: boolean }>(`(() => {
        const cells = [...document.querySelectorAll("td")].filter((cell) => cell.childNodes.length > 0);
        const cut = [...document.querySelectorAll("button, a.button")].filter((button) => {
          const box = button.getBoundingClientRect();
          const scrolls = button.closest(".table-box, .virtual, .flow, .tabs") !== null;
          return box.width > 0 && !scrolls && box.right > window.innerWidth + 1;
        });
        return {
          hidden: cells.filter((cell) => cell.getClientRects().length === 0).length,
          cut: cut.length,
          wide: document.documentElement.scrollWidth > window.innerWidth,
        };
      })()`);
      expect({ address, ...found }).toEqual({ address, hidden: 0, cut: 0, wide: false });
    }
    // The text beside the bar of a failed job is long.
    const bar = page.locator(".job-progress .state-bar");
    expect((await bar.boundingBox())!.width).toBeGreaterThan(150);
    expect(await page.getByRole("button", { name: "Sign out" }).isVisible()).toBe(true);
    await opened.go(`/jobs/${jobs.chain}?view=events`);
    const event = page.locator(".event-row", { hasText: "step_0" }).first();
    await event.getByText("step_0", { exact: true }).waitFor();
    // A time of two lines would cover its neighbours.
    expect((await event.locator("time").boundingBox())!.height).toBeLessThan(24);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("shows a page that was opened while the server was away, once it is back", async () => {
    await opened.go("/");
    await page.getByRole("heading", { name: "Dashboard" }).waitFor();
    await opened.context.setOffline(true);
    await page.getByRole("link", { name: "Catalogue" }).click();
    await page.getByText("The server does not answer").first().waitFor();
    await opened.context.setOffline(false);
    await page.getByRole("heading", { name: "Catalogue", exact: true }).waitFor();
  });

  it("never broke its own content policy, nor threw", () => {
    expect(opened.complaints.filter((text) => !text.includes("dynamically imported"))).toEqual([]);
  });
});
