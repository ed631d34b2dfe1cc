/**
 * What a person has typed into the form of a workflow. It is kept in the tab by user and workflow, so
 * that the end of a session or a reload loses nothing; submitting removes it.
 */
import type { Json, JsonObject } from "../../../src/core/model/json.ts";
import { isJsonObject } from "../../../src/core/model/json.ts";
import { hideMembers } from "../../../src/core/model/mask.ts";
import type { InputDeclaration } from "../../../src/core/model/workflow.ts";
import { readField, writeField } from "./field-text.ts";

export type Declared = Readonly<Record<string, InputDeclaration>>;
export type Fields = Readonly<Record<string, string>>;
/** By the name of the input; `""` for the text as a whole. */
export type Problems = ReadonlyMap<string, string>;

export interface Draft {
  readonly mode: "form" | "json";
  readonly fields: Fields;
  readonly text: string;
  readonly priority: string;
}

export function startDraft(declared: Declared | undefined, given: JsonObject): Draft {
  const known = withoutSecrets(declared, given);
  return {
    mode: declared === undefined ? "json" : "form",
    fields: fieldsOf(declared ?? {}, known, true),
    text: JSON.stringify(known, null, 2),
    priority: "0",
  };
}

/** Required inputs first, otherwise in the order of the file. */
export function inOrder(declared: Declared): [string, InputDeclaration][] {
  const all = Object.entries(declared);
  return [
    ...all.filter(([, { required }]) => required),
    ...all.filter(([, { required }]) => !required),
  ];
}

/** Reads the inputs from the form or the text; with problems where that is not possible. */
export function readDraft(
  declared: Declared | undefined,
  { mode, fields, text }: Draft,
): { readonly inputs: JsonObject; readonly problems: Problems } {
  return mode === "json" ? readText(text) : readFields(declared ?? {}, fields);
}

/**
 * Carries what was typed over to the other way of typing it. What the other way cannot hold is a
 * problem, and the draft stays as it is.
 */
export function switchMode(
  declared: Declared | undefined,
  draft: Draft,
): { readonly draft: Draft; readonly problems: Problems } {
  const { inputs, problems } = readDraft(declared, draft);
  if (problems.size > 0) return { draft, problems };
  if (draft.mode === "form") {
    const text = JSON.stringify(inputs, null, 2);
    return { draft: { ...draft, mode: "json", text }, problems };
  }
  const strange = Object.keys(inputs).filter((name) => !Object.hasOwn(declared ?? {}, name));
  if (strange.length > 0) {
    const message = `The form has no field for ${strange.join(", ")}: the workflow declares no such input.`;
    return { draft, problems: new Map([["", message]]) };
  }
  const fields = fieldsOf(declared ?? {}, inputs, false);
  return { draft: { ...draft, mode: "form", fields }, problems };
}

/** A job shows its secrets as dots, and a secret default is dots too: they are typed again. */
function withoutSecrets(declared: Declared | undefined, given: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => declared?.[name]?.secret !== true),
  );
}

/** Inputs for a command that is shown and copied. */
export function hideSecrets(declared: Declared | undefined, inputs: JsonObject): JsonObject {
  const secret = Object.keys(inputs).filter((name) => declared?.[name]?.secret === true);
  return hideMembers(inputs, secret);
}

function fieldsOf(declared: Declared, given: JsonObject, defaults: boolean): Fields {
  return Object.fromEntries(
    Object.entries(declared).map(([name, input]) => [
      name,
      writeField(
        Object.hasOwn(given, name)
          ? given[name]
          : defaults && input.secret !== true
            ? input.default
            : undefined,
      ),
    ]),
  );
}

function readText(text: string): { inputs: JsonObject; problems: Problems } {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return { inputs: value, problems: new Map() };
    return { inputs: {}, problems: new Map([["", "The inputs must be one JSON object: { … }."]]) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    return { inputs: {}, problems: new Map([["", `This is not JSON: ${reason}`]]) };
  }
}

function readFields(
  declared: Declared,
  fields: Fields,
): { inputs: JsonObject; problems: Problems } {
  const inputs: [string, Json][] = [];
  const problems = new Map<string, string>();
  for (const [name, declaration] of inOrder(declared)) {
    const field = readField(declaration.type, fields[name] ?? "");
    if (field.problem !== undefined) problems.set(name, field.problem);
    else if (field.value !== undefined) inputs.push([name, field.value]);
  }
  return { inputs: Object.fromEntries(inputs), problems };
}

export function draftKey(user: string, workflowId: string, from: string | undefined): string {
  return `rmhdag.submit ${JSON.stringify([user, workflowId, from ?? null])}`;
}

export function loadDraft(key: string): Draft | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? "null") as Draft | undefined) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Secrets are not kept: the storage of a tab can be read by every script of the page. */
export function saveDraft(key: string, draft: Draft | undefined, declared?: Declared): void {
  try {
    if (draft === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(keptOf(declared, draft)));
  } catch {
    // A browser that refuses: the draft lasts as long as the page.
  }
}

export function keptOf(declared: Declared | undefined, draft: Draft): Draft {
  const secret = Object.entries(declared ?? {}).filter(([, input]) => input.secret === true);
  if (secret.length === 0) return draft;
  const emptied = Object.fromEntries(secret.map(([name]) => [name, ""]));
  const { inputs, problems } = readText(draft.text);
  // A text that is no JSON yet cannot be told from its secrets.
  const text = problems.size > 0 ? "{}" : JSON.stringify(withoutSecrets(declared, inputs), null, 2);
  return { ...draft, fields: { ...draft.fields, ...emptied }, text };
}
