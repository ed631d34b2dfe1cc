import { defineHandler } from "../../define-handler.ts";
import { openLayer } from "./open-layer.ts";
import { chooseTarget, writeVector } from "./write-vector.ts";

export const simplifyVector = defineHandler("vector_simplify", async (params, context) => {
  const target = chooseTarget(params, params.blob_path, "simplified", context);
  const { file, openArgs, layer, dialect, geometry, quote } = await openLayer(params, context);
  if (params.preserve_topology) {
    const args = [...openArgs, layer.name, "-nlt", "PROMOTE_TO_MULTI"];
    return writeVector(
      { file, args: [...args, "-simplify", String(params.tolerance)] },
      target,
      context,
    );
  }
  const fields = layer.fields.map(quote).join(", ");
  const sql = `SELECT ST_Simplify(${geometry}, ${params.tolerance}) AS geometry${fields === "" ? "" : `, ${fields}`} FROM ${quote(layer.name)}`;
  const args = [...openArgs, "-dialect", dialect, "-sql", sql];
  return writeVector({ file, args: [...args, "-nln", "layer"] }, target, context);
});
