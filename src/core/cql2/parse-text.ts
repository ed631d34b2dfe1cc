/**
 * Parses CQL2 text to CQL2 JSON. Booleans and values share their parentheses, so there is one
 * grammar for both; `read-json.ts` checks for both forms which operand may stand where.
 */
import type { Json } from "../model/json.ts";
import { invalidFilter } from "./ast.ts";
import { isGeometryWord, parseWkt } from "./parse-wkt.ts";
import { TokenStream } from "./tokens.ts";

/** More than a person writes, and less than a stack can hold. */
const mostLevels = 100;

export function parseText(text: string): Json {
  const tokens = new TokenStream(text);
  const parser = new Parser(tokens);
  const expression = parser.expression();
  if (tokens.current.type !== "end") tokens.refuse("an operator or the end");
  return expression;
}

class Parser {
  readonly #tokens: TokenStream;
  #level = 0;

  constructor(tokens: TokenStream) {
    this.#tokens = tokens;
  }

  expression(): Json {
    const parts = [this.#conjunction()];
    while (this.#tokens.takeWord("OR")) parts.push(this.#conjunction());
    return joined("or", parts);
  }

  #conjunction(): Json {
    const parts = [this.#negation()];
    while (this.#tokens.takeWord("AND")) parts.push(this.#negation());
    return joined("and", parts);
  }

  #negation(): Json {
    let negated = false;
    while (this.#tokens.takeWord("NOT")) negated = !negated;
    const predicate = this.#predicate();
    return negated ? { op: "not", args: [predicate] } : predicate;
  }

  #predicate(): Json {
    const left = this.#sum();
    const op = this.#tokens.takeSymbol("=", "<>", "<=", ">=", "<", ">");
    if (op !== undefined) return { op, args: [left, this.#sum()] };
    if (this.#tokens.takeWord("IS")) {
      const negated = this.#tokens.takeWord("NOT");
      this.#tokens.demandWord("NULL");
      return not(negated, { op: "isNull", args: [left] });
    }
    const negated = this.#tokens.takeWord("NOT");
    if (this.#tokens.takeWord("LIKE"))
      return not(negated, { op: "like", args: [left, this.#sum()] });
    if (this.#tokens.takeWord("BETWEEN")) {
      const low = this.#sum();
      this.#tokens.demandWord("AND");
      return not(negated, { op: "between", args: [left, low, this.#sum()] });
    }
    if (this.#tokens.takeWord("IN")) return not(negated, { op: "in", args: [left, this.#list()] });
    if (negated) this.#tokens.refuse("LIKE, BETWEEN or IN");
    return left;
  }

  #sum(): Json {
    let left = this.#product();
    for (;;) {
      const op = this.#tokens.takeSymbol("+", "-");
      if (op === undefined) return left;
      left = { op, args: [left, this.#product()] };
    }
  }

  #product(): Json {
    let left = this.#power();
    for (;;) {
      const op = this.#tokens.takeSymbol("*", "/", "%");
      if (op === undefined) return left;
      left = { op, args: [left, this.#power()] };
    }
  }

  #power(): Json {
    const base = this.#value();
    return this.#tokens.takeSymbol("^") === undefined
      ? base
      : { op: "^", args: [base, this.#value()] };
  }

  /** Counts the level, because every recursion passes through here. */
  #value(): Json {
    if (++this.#level > mostLevels) throw invalidFilter("The filter is nested too deeply.");
    const value = this.#read();
    this.#level--;
    return value;
  }

  #read(): Json {
    const tokens = this.#tokens;
    if (tokens.takeSymbol("(") !== undefined) {
      const inner = this.expression();
      tokens.demandSymbol(")");
      return inner;
    }
    if (tokens.takeSymbol("-") !== undefined) {
      const number = tokens.take("number");
      if (number !== undefined) return -Number(number.value);
      return { op: "*", args: [-1, this.#value()] };
    }
    const number = tokens.take("number");
    if (number !== undefined) return Number(number.value);
    const text = tokens.take("text");
    if (text !== undefined) return text.value;
    const name = tokens.take("name");
    if (name !== undefined) return { property: name.value };
    if (isGeometryWord(tokens.current)) return parseWkt(tokens);
    const word = tokens.take("word");
    if (word === undefined) return tokens.refuse("a value");
    if (word.value === "TRUE" || word.value === "FALSE") return word.value === "TRUE";
    if (tokens.current.type === "symbol" && tokens.current.value === "(") {
      return call(word.value, this.#list());
    }
    if (reserved.has(word.value))
      throw invalidFilter(`"${word.raw}" at ${word.at + 1} is a keyword.`);
    return { property: word.raw };
  }

  #list(): Json[] {
    const values: Json[] = [];
    this.#tokens.demandSymbol("(");
    if (this.#tokens.takeSymbol(")") !== undefined) return values;
    do values.push(this.#sum());
    while (this.#tokens.takeSymbol(",") !== undefined);
    this.#tokens.demandSymbol(")");
    return values;
  }
}

const reserved = new Set(["AND", "OR", "NOT", "LIKE", "BETWEEN", "IN", "IS", "NULL"]);

function joined(op: "and" | "or", parts: readonly Json[]): Json {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { op, args: parts };
}

function not(negated: boolean, predicate: Json): Json {
  return negated ? { op: "not", args: [predicate] } : predicate;
}

/** Names of functions are not case-sensitive; in JSON they are written like `t_metBy`. */
function call(name: string, args: readonly Json[]): Json {
  switch (name) {
    case "DATE":
      return { date: args[0] ?? null };
    case "TIMESTAMP":
      return { timestamp: args[0] ?? null };
    case "INTERVAL":
      return { interval: args };
    default:
      return { op: name.toLowerCase().replace(/by$/, "By"), args };
  }
}
