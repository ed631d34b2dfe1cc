import { invalidFilter } from "./ast.ts";

export interface Token {
  readonly type: "word" | "name" | "text" | "number" | "symbol" | "end";
  /** Of a word in capitals, of a text without its quotes. */
  readonly value: string;
  /** As it was written. */
  readonly raw: string;
  readonly at: number;
}

/** What a filter may be long: it travels in an address as well. */
const mostCharacters = 16_384;

const patterns = [
  [undefined, /\s+/y],
  ["number", /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y],
  ["text", /'(?:[^']|'')*'/y],
  ["name", /"(?:[^"]|"")+"/y],
  ["word", /[A-Za-z_:\u0080-\uffff][\w:.\u0080-\uffff]*/y],
  ["symbol", /<>|<=|>=|[=<>(),+\-*/%^]/y],
] as const;

export function tokenise(text: string): Token[] {
  if (text.length > mostCharacters) {
    throw invalidFilter(`The filter is longer than ${mostCharacters} characters.`);
  }
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = nextToken(text, at);
    if (token === undefined) {
      throw invalidFilter(`The filter has ${show(text.slice(at, at + 12))} at ${at + 1}.`);
    }
    at += token.raw.length;
    if (token.type !== undefined) tokens.push({ ...token, type: token.type });
  }
  return tokens;
}

/** Without a type: nothing but space. */
function nextToken(text: string, at: number) {
  for (const [type, pattern] of patterns) {
    pattern.lastIndex = at;
    const raw = pattern.exec(text)?.[0];
    if (raw !== undefined) return { type, value: valueOf(type, raw), raw, at };
  }
  return undefined;
}

function valueOf(type: string | undefined, raw: string): string {
  if (type === "text") return raw.slice(1, -1).replaceAll("''", "'");
  if (type === "name") return raw.slice(1, -1).replaceAll('""', '"');
  return type === "word" ? raw.toUpperCase() : raw;
}

export function show(text: string): string {
  return text === "" ? "its end" : `"${text}"`;
}
