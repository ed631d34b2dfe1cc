import { invalidFilter } from "./ast.ts";

export interface Token {
  readonly type: "word" | "name" | "text" | "number" | "symbol" | "end";
  /** A word in upper case; a text without its quotes. */
  readonly value: string;
  /** The token as written. */
  readonly raw: string;
  readonly at: number;
}

/** Limits the length of a filter. */
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

/** A token without a type is white space. */
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

/** The tokens of a filter, read from left to right. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #next = 0;

  constructor(text: string) {
    this.#tokens = tokenise(text);
    this.#end = { type: "end", value: "", raw: "", at: text.length };
  }

  get current(): Token {
    return this.#tokens[this.#next] ?? this.#end;
  }

  take(type: Token["type"]): Token | undefined {
    const token = this.current;
    if (token.type !== type || type === "end") return undefined;
    this.#next++;
    return token;
  }

  takeWord(word: string): boolean {
    return (
      this.current.type === "word" && this.current.value === word && this.take("word") !== undefined
    );
  }

  takeSymbol(...symbols: readonly string[]): string | undefined {
    const { type, value } = this.current;
    if (type !== "symbol" || !symbols.includes(value)) return undefined;
    this.#next++;
    return value;
  }

  demandWord(word: string): void {
    if (!this.takeWord(word)) this.refuse(word);
  }

  demandSymbol(symbol: string): void {
    if (this.takeSymbol(symbol) === undefined) this.refuse(`"${symbol}"`);
  }

  refuse(expected: string): never {
    const { raw, at } = this.current;
    throw invalidFilter(`The filter has ${show(raw)} at ${at + 1}, where ${expected} is expected.`);
  }
}
