import { defineHandler } from "../../define-handler.ts";
import { openLayer } from "./open-layer.ts";
import { refuse } from "./refuse.ts";
import { chooseTarget, writeVector } from "./write-vector.ts";

export const dissolveVector = defineHandler("vector_dissolve", async (params, context) => {
  const target = chooseTarget(params, params.blob_path, "dissolved", context);
  const { file, openArgs, layer, dialect, geometry, quote } = await openLayer(params, context);
  const by = params.by === undefined ? [] : [params.by].flat();
  for (const name of by) {
    if (layer.fields.includes(name)) continue;
    const known = layer.fields.join(", ");
    throw refuse("COLUMN_NOT_FOUND", `The layer has no column "${name}"; it has: ${known}.`);
  }
  const columns = by.map(quote);
  const grouped = columns.length === 0 ? "" : ` GROUP BY ${columns.join(", ")}`;
  const selected = [`ST_Union(${geometry}) AS geometry`, ...columns].join(", ");
  const sql = `SELECT ${selected} FROM ${quote(layer.name)}${grouped}`;
  const args = [...openArgs, "-dialect", dialect, "-sql", sql, "-nln", "layer"];
  return writeVector({ file, args: [...args, "-nlt", "PROMOTE_TO_MULTI"] }, target, context);
});
