/**
 * A real Chromium for the tests of the pages: the system's own, or the one that CHROMIUM names.
 * Where there is none, those tests are skipped.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { root } from "./processes.ts";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function findChromium(): string | undefined {
  const given = process.env["CHROMIUM"];
  return [...(given === undefined ? [] : [given]), ...places].find((file) => existsSync(file));
}

/**
 * Draws in software: a map needs WebGL, and test machines have no graphics card. Only WebGL goes through
 * the imitated one: pages that were drawn with it, too, took twice the processor time.
 */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("there is no Chromium here");
  return chromium.launch({
    executablePath,
    args: [
      ...["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
      ...["--disable-gpu-rasterization", "--disable-gpu-compositing"],
    ],
  });
}

/** Builds the pages where a source of theirs has changed. */
export async function buildPages(): Promise<void> {
  const script = path.join(root, "scripts/build-stale.js");
  await promisify(execFile)(process.execPath, [script, "ui"], { cwd: root });
}

export interface Finding {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly where: readonly string[];
}

/** The serious and critical violations that axe finds. Evaluated, so that no policy must allow a script. */
export async function seriousFindings(page: Page): Promise<Finding[]> {
  const source = await readFile(path.join(root, "node_modules/axe-core/axe.min.js"), "utf8");
  await page.evaluate(source);
  const found: Finding[] = await page.evaluate(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
       violations.map(({ id, impact, help, nodes }) =>
         ({ id, impact, help, where: nodes.map(({ html }) => html.slice(0, 160)) })))`,
  );
  return found.filter(({ impact }) => impact === "serious" || impact === "critical");
}
