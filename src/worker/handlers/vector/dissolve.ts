import { defineHandler } from "../../define-handler.ts";
import { openLayer, quote } from "./open-layer.ts";
import { refuse } from "./refuse.ts";
import { sqlOf, withSql } from "./with-sql.ts";
import { chooseTarget, writeVector } from "./write-vector.ts";

export const dissolveVector = defineHandler("vector_dissolve", async (params, context) => {
  const target = chooseTarget(params, params.blob_path, "dissolved", context);
  const opened = await openLayer(params, context);
  const { fields } = opened.layer;
  const by = params.by === undefined ? [] : [params.by].flat();
  for (const name of by) {
    if (fields.includes(name)) continue;
    const known = fields.join(", ");
    throw refuse("COLUMN_NOT_FOUND", `The layer has no column "${name}"; it has: ${known}.`);
  }
  const columns = by.map(quote);
  const grouped = columns.length === 0 ? "" : ` GROUP BY ${columns.join(", ")}`;
  const { answer } = await withSql(opened, context, (each) => {
    const { geometry, dialect } = sqlOf(each);
    const selected = [`ST_Union(${quote(geometry)}) AS geometry`, ...columns].join(", ");
    const sql = `SELECT ${selected} FROM ${quote(each.layer.name)}${grouped}`;
    const args = [...each.openArgs, "-dialect", dialect, "-sql", sql, "-nln", "layer"];
    return writeVector({ ...each, args: [...args, "-nlt", "PROMOTE_TO_MULTI"] }, target, context);
  });
  return answer;
});
