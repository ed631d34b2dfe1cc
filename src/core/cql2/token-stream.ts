import { invalidFilter } from "./ast.ts";
import type { Token } from "./tokens.ts";
import { show, tokenise } from "./tokens.ts";

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
