import { Problem } from "../../core/errors.ts";
import { checkText } from "./check-text.ts";

/** An empty body is no body; what a database cannot store is found here. */
export function parseBody(text: string): unknown {
  if (text === "") return undefined;
  const body = parse(text);
  const items = checkText(body);
  if (items.length === 0) return body;
  throw new Problem("BAD_REQUEST", "The body holds what cannot be stored.", items);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem("BAD_REQUEST", `The body is not valid JSON: ${reason}`);
  }
}
