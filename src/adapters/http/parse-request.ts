import type { z } from "zod";
import type { Contract } from "../../core/api/contract.ts";
import type { ProblemItem } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";
import { checkText, escapePointer } from "./check-text.ts";

export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Pointers lead into the body; those into the address start with /params or /query. */
const parts = { params: "/params", query: "/query", body: "" } as const;

/** Throws one Problem that counts all values that are wrong and lists the first of them. */
export function parseRequest(contract: Contract, raw: RawRequest): RawRequest {
  const findings = new Findings();
  const parsed = { params: undefined, query: undefined, body: undefined } as Record<
    keyof RawRequest,
    unknown
  >;
  for (const part of ["params", "query", "body"] as const) {
    const schema = contract[part];
    if (schema === undefined) continue;
    // `parseBody` has checked the text of the body.
    if (part !== "body") findings.addItems(checkText(raw[part], parts[part]));
    const result = schema.safeParse(raw[part]);
    if (result.success) parsed[part] = result.data;
    else findings.addIssues(result.error.issues, parts[part]);
  }
  if (findings.total === 0) return parsed;
  const missing = contract.body !== undefined && raw.body === undefined;
  throw findings.toProblem(missing ? "This needs a JSON body." : undefined);
}

/** Parses one of many bodies in a request, so that each can fail by itself. */
export function parseBodyOf<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const findings = new Findings();
  findings.addIssues(result.error.issues, "");
  throw findings.toProblem();
}

/** More would help no reader, and writing sixty thousand of them would take seconds. */
const mostListed = 50;

class Findings {
  readonly #listed: ProblemItem[] = [];
  total = 0;

  addItems(items: readonly ProblemItem[]): void {
    for (const item of items) this.#add(() => item);
  }

  addIssues(issues: readonly z.core.$ZodIssue[], base: string): void {
    for (const issue of issues) {
      const { code, message } = issue;
      const at = () => base + issue.path.map((key) => `/${escapePointer(String(key))}`).join("");
      if (code !== "unrecognized_keys") {
        this.#add(() => ({ pointer: at(), code, message }));
        continue;
      }
      for (const key of issue.keys) {
        const pointer = () => `${at()}/${escapePointer(key)}`;
        this.#add(() => ({ pointer: pointer(), code, message: "is not known here" }));
      }
    }
  }

  toProblem(detail?: string): Problem {
    const { total } = this;
    const counted =
      total === 1
        ? "One value is not as it should be"
        : `${total} values are not as they should be`;
    const cut = total > mostListed ? `; the first ${mostListed} are listed` : "";
    return new Problem("BAD_REQUEST", detail ?? `${counted}${cut}.`, this.#listed);
  }

  #add(item: () => ProblemItem): void {
    this.total++;
    if (this.#listed.length < mostListed) this.#listed.push(item());
  }
}

/** Parses JSON and refuses values that PostgreSQL cannot store. An empty body is undefined. */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  const body = parseJson(text);
  const items = checkText(body);
  if (items.length === 0) return body;
  throw new Problem("BAD_REQUEST", "The body holds what cannot be stored.", items);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem("BAD_REQUEST", `The body is not valid JSON: ${reason}`);
  }
}
