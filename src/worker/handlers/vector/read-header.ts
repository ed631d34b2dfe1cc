import { open } from "node:fs/promises";

const longestHeader = 4 * 1024 * 1024;

/** Of a CSV, from its first line alone: GDAL would make all of them before anybody could count. */
export async function readHeader(file: string): Promise<string[]> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(longestHeader),
      0,
      longestHeader,
      0,
    );
    const text = buffer.toString("latin1", 0, bytesRead);
    const line = text.slice(0, text.search(/[\r\n]|$/));
    const separator = [",", ";", "\t", "|"].reduce((best, each) =>
      line.split(each).length > line.split(best).length ? each : best,
    );
    return line.split(separator).map((name) => name.replaceAll('"', "").trim());
  } finally {
    await handle.close();
  }
}
