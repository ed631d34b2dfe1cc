/** Rewrites the formats of a spreadsheet with which GDAL would lose the time of a moment. */
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { openZip } from "../../../adapters/zip/open-zip.ts";
import { replaceEntry } from "../../../adapters/zip/replace-entry.ts";
import { spellHours } from "../../../core/vector/spell-hours.ts";
import { originalOf } from "./prepare-text.ts";

const isStyles = (name: string) => /^xl\/styles\d*\.xml$/i.test(name);

export async function mendSpreadsheet(file: string, signal: AbortSignal): Promise<void> {
  const folder = await mkdtemp(`${file}-styles-`);
  try {
    const zip = await openZip(file);
    const parts = await zip
      .extractTo(folder, { only: ({ name }) => isStyles(name), signal })
      .finally(() => {
        zip.close();
      });
    for (const part of parts) {
      const styles = await readFile(part, "utf8");
      const spelled = spellHours(styles);
      if (spelled === styles) continue;
      // The submitted file is kept, because its hash names the data.
      await copyFile(file, originalOf(file));
      const name = path.relative(folder, part).split(path.sep).join("/");
      await replaceEntry(file, name, Buffer.from(spelled));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
