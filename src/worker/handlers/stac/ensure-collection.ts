import { ensureCollection as ensure } from "../../../adapters/postgres/repositories/catalogue.ts";
import { buildCollection } from "../../../core/catalogue/collection.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";

export const ensureCollection = defineHandler(
  "raster.stac_ensure_collection",
  async (params, context) => {
    const { created } = await ensure(demandDatabase(context), buildCollection(params));
    return { collection_id: params.collection_id, created };
  },
);
