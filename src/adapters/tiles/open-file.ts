import { open } from "node:fs/promises";
import { createByteSources } from "./byte-source.ts";
import { openRaster } from "./open-raster.ts";
import type { RasterFile } from "./raster-file.ts";

/** Opens a GeoTIFF on this machine for windowed reads. `close` must be called. */
export async function openFile(
  file: string,
  place: Omit<Parameters<typeof openRaster>[1], "key">,
): Promise<{ readonly raster: RasterFile; close(): Promise<void> }> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const sources = createByteSources({
      readRange: async (_path, offset, length) => {
        const bytes = new Uint8Array(length);
        const { bytesRead } = await handle.read(bytes, 0, length, offset);
        return bytes.subarray(0, bytesRead);
      },
    });
    const raster = await openRaster(sources(file, file, size), { key: file, ...place });
    return { raster, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
