import { z } from "zod";
import type { Json, JsonObject } from "../model/json.ts";
import type { HandlerContract } from "./contract.ts";
import type { ParameterDefaults } from "./parameter-defaults.ts";
import { withParameterDefaults } from "./parameter-defaults.ts";

/** Other names of parameters, each with the name that our handlers give it. */
const parameterAliases: Readonly<Record<string, string>> = {
  blob_name: "blob_path",
  source_path: "blob_path",
  source_url: "blob_path",
  local_path: "blob_path",
  cog_url: "blob_path",
  cog_blob: "blob_path",
  container_name: "container",
  cog_container: "container",
  input_crs: "source_crs",
  output_tier: "tier",
};

/** A storage account is a setting of the installation, so a workflow need not repeat its name. */
const ignoredParameters: ReadonlySet<string> = new Set(["storage_account"]);

/** Values that mean "decide by yourself", as leaving the parameter out does. */
const undecided: ReadonlyMap<string, Json> = new Map([["raster_type", "auto"]]);

/** The names that a contract gives its parameters; undefined if its schema does not list them. */
function namesOf(contract: HandlerContract): Readonly<Record<string, unknown>> | undefined {
  return contract.params instanceof z.ZodObject ? contract.params.shape : undefined;
}

/**
 * The contract's own name of a parameter. A name that the contract has means itself, whatever else
 * it may be an alias of; `undefined` stands for a name that is read and ignored.
 */
function ownName(contract: HandlerContract, name: string): string | undefined {
  const names = namesOf(contract);
  if (names === undefined || Object.hasOwn(names, name)) return name;
  const alias = Object.hasOwn(parameterAliases, name) ? parameterAliases[name] : undefined;
  if (alias !== undefined && Object.hasOwn(names, alias)) return alias;
  return ignoredParameters.has(name) && Object.hasOwn(names, "blob_path") ? undefined : name;
}

/**
 * Parameters under the names of the contract. A parameter that is given under two names keeps both,
 * so that the schema refuses the second.
 */
export function nameParams(
  contract: HandlerContract,
  params: JsonObject,
): { readonly params: JsonObject; readonly written: ReadonlyMap<string, string> } {
  const named: Record<string, Json> = {};
  const written = new Map<string, string>();
  for (const [name, value] of Object.entries(params)) {
    const own = ownName(contract, name);
    if (own === undefined) continue;
    const key = own !== name && Object.hasOwn(params, own) ? name : own;
    named[key] = undecided.has(key) && undecided.get(key) === value ? null : value;
    if (key !== name) written.set(key, name);
  }
  return { params: named, written };
}

/**
 * Checks parameters against a contract, under any of their names, with the site's `defaults` for those
 * that are not given. An empty text where the schema refuses one counts as not given: templates of the
 * existing platform end in `default('', true)`.
 */
export function parseParams(
  contract: HandlerContract,
  given: JsonObject,
  defaults?: ParameterDefaults,
): ReturnType<z.ZodType["safeParse"]> {
  const named = nameParams(contract, given).params;
  const params = defaults === undefined ? named : withParameterDefaults(contract, named, defaults);
  const parsed = contract.params.safeParse(params);
  if (parsed.success) return parsed;
  const empty = parsed.error.issues.flatMap(({ path: [key, ...rest] }) =>
    typeof key === "string" && rest.length === 0 && params[key] === "" ? [key] : [],
  );
  if (empty.length === 0) return parsed;
  const kept = Object.entries(params).filter(([key]) => !empty.includes(key));
  return contract.params.safeParse(Object.fromEntries(kept));
}
