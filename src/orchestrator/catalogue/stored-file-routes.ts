import type { Handlers } from "../../adapters/http/handler.ts";
import type { storageContracts } from "../../core/api/storage.ts";
import { Problem } from "../../core/errors.ts";
import type { RouteDeps } from "../route-deps.ts";
import { serveStored } from "./serve-stored.ts";

export function storageRoutes(deps: Pick<RouteDeps, "storage">): Handlers<typeof storageContracts> {
  const { storage } = deps;
  return {
    readStored: async (request) => {
      const { params, query } = request;
      const { path } = params;
      if (!(await storage.checkSignature(path, query))) {
        throw new Problem("LINK_NOT_VALID", "The link was changed, or its time is over.");
      }
      return serveStored(storage, path, request);
    },
  };
}
