import type { Handlers } from "../../adapters/http/handler.ts";
import { BadCursor, BadStoragePath, zones } from "../../adapters/storage/storage.ts";
import type { fileContracts } from "../../core/api/storage.ts";
import type { uploadContracts } from "../../core/api/uploads.ts";
import { Problem } from "../../core/errors.ts";
import { serveStored } from "../catalogue/serve-stored.ts";
import { deleteFile } from "./delete-file.ts";
import type { FileDeps } from "./deps.ts";
import { recogniseFile } from "./recognise-file.ts";
import { uploadRoutes } from "./upload-routes.ts";

export type FileRouteDeps = FileDeps;

/** The files of storage, for operators: browse, upload, recognise, read and delete. */
export function fileRoutes(
  deps: FileRouteDeps,
): Handlers<typeof fileContracts> & Handlers<typeof uploadContracts> {
  const { storage } = deps;
  return {
    browseStorage: async ({ query: { folder, cursor, limit } }) => {
      if (folder === undefined || folder === "") {
        return { folders: zones.map((zone) => `${zone}/`), items: [], next_cursor: null };
      }
      const found = await storage.browse(folder, { cursor, limit }).catch((error: unknown) => {
        if (error instanceof BadStoragePath || error instanceof BadCursor) {
          throw new Problem("BAD_REQUEST", error.message);
        }
        throw error;
      });
      return {
        folders: [...found.folders],
        items: [...found.items],
        next_cursor: found.next_cursor,
      };
    },

    readFile: async (request) => serveStored(storage, request.params.path, request),

    deleteFile: async ({ params: { path }, query: { force } }) =>
      deleteFile(deps, path, { force: force === "true" }),

    recogniseFile: async ({ query: { path } }) => recogniseFile(storage, path),

    ...uploadRoutes(deps),
  };
}
