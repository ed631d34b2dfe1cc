import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

const bytesPerMegabyte = 1024 * 1024;

export const sizeCheck = defineHandler("size_check", async (params, { storage }) => {
  const { size_mb, path, threshold_mb } = params;
  const megabytes = size_mb ?? (await sizeOf(path ?? "")) / bytesPerMegabyte;
  return { file_size_mb: megabytes, is_large: megabytes > threshold_mb };

  async function sizeOf(name: string): Promise<number> {
    const found = await storage.head(name);
    if (found === undefined) {
      throw new PermanentError(`There is no "${name}" in storage.`, { code: "FILE_NOT_FOUND" });
    }
    return found.bytes;
  }
});
