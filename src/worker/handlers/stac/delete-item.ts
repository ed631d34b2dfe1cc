import { deleteItem as remove } from "../../../adapters/postgres/repositories/catalogue.ts";
import { defineHandler } from "../../define-handler.ts";
import { demandDatabase } from "./demand-database.ts";

export const deleteItem = defineHandler("stac.delete_item", async (params, context) => {
  const { collection_id, item_id } = params;
  const deleted = await remove(demandDatabase(context), collection_id, item_id);
  return { collection_id, item_id, deleted: deleted !== undefined };
});
