import { defineHandler } from "../../define-handler.ts";
import { openLayer, quote } from "./open-layer.ts";
import { sqlOf, withSql } from "./with-sql.ts";
import { chooseTarget, writeVector } from "./write-vector.ts";

export const simplifyVector = defineHandler("vector_simplify", async (params, context) => {
  const target = chooseTarget(params, params.blob_path, "simplified", context);
  const opened = await openLayer(params, context);
  const tolerance = String(params.tolerance);
  if (params.preserve_topology) {
    const args = [...opened.openArgs, opened.layer.name, "-nlt", "PROMOTE_TO_MULTI"];
    return writeVector({ ...opened, args: [...args, "-simplify", tolerance] }, target, context);
  }
  const { answer } = await withSql(opened, context, (each) => {
    const { geometry, dialect } = sqlOf(each);
    const simplified = `ST_Simplify(${quote(geometry)}, ${tolerance}) AS geometry`;
    const selected = [simplified, ...each.layer.fields.map(quote)].join(", ");
    const sql = `SELECT ${selected} FROM ${quote(each.layer.name)}`;
    const args = [...each.openArgs, "-dialect", dialect, "-sql", sql, "-nln", "layer"];
    return writeVector({ ...each, args }, target, context);
  });
  return answer;
});
