import { didYouMean } from "../dag/suggest.ts";
import type { ProblemItem } from "../errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Platform } from "../model/platform.ts";
import { ambiguousNumbers } from "./asset-id.ts";

export interface CheckedRefs {
  /** The references that the asset's id is made of. */
  readonly identity: JsonObject;
  /** The version's label, if the platform sends it among its references. */
  readonly label: string | undefined;
  readonly findings: readonly ProblemItem[];
}

const longest = 1024;

/** Checks the references that a platform sent against those that it declares. */
export function checkRefs(
  platform: Pick<Platform, "required_refs" | "optional_refs" | "version_ref">,
  refs: JsonObject,
): CheckedRefs {
  const { required_refs, optional_refs, version_ref } = platform;
  const declared = [...required_refs, ...optional_refs];
  const findings: ProblemItem[] = [];
  const identity: [string, Json][] = [];
  let label: string | undefined;
  if (JSON.stringify(refs).length > longest) {
    findings.push(finding("REF_INVALID", "", `must be at most ${longest} characters of JSON`));
    return { identity: {}, label, findings };
  }
  for (const name of required_refs) {
    if (!Object.hasOwn(refs, name) || refs[name] === null || refs[name] === "") {
      findings.push(finding("REF_MISSING", `/${name}`, `"${name}" is required`));
    }
  }
  for (const [name, value] of Object.entries(refs)) {
    const pointer = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (name === version_ref) {
      if (typeof value === "string" && value.length >= 1 && value.length <= 128) label = value;
      else findings.push(finding("REF_INVALID", pointer, "must be a text of 1 to 128 characters"));
    } else if (!declared.includes(name)) {
      const message = `the platform declares no reference "${name}"${didYouMean(name, declared)}`;
      findings.push(finding("REF_UNKNOWN", pointer, message));
    } else {
      findings.push(...badNumbers(value, pointer));
      identity.push([name, value]);
    }
  }
  // fromEntries and not assignment: a name such as __proto__ must stay a plain key.
  return { identity: Object.fromEntries(identity), label, findings };
}

function badNumbers(value: Json, pointer: string): ProblemItem[] {
  const message =
    "this number may be an integer or a float, which give different ids: send it as text";
  return ambiguousNumbers(value, pointer).map((at) => finding("REF_AMBIGUOUS", at, message));
}

function finding(code: string, pointer: string, message: string): ProblemItem {
  return { code, pointer: `/platform_refs${pointer}`, message };
}
