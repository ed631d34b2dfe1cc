/**
 * Judges the schema of a SQLite database, which is a list of SQL statements. SQLite runs code of the
 * file when a layer is read from a virtual table, a view or a generated column, and some modules and
 * functions read other files. A GeoPackage needs none of it but its spatial index.
 */
import { activeContent, shown } from "./problem.ts";
import type { FileProblem } from "./problem.ts";

export interface SchemaRow {
  readonly name: string;
  readonly sql: string;
}

type Token =
  | { readonly kind: "word" | "name"; readonly text: string }
  | { readonly kind: "mark"; readonly text: string };

export function judgeSchema(rows: readonly SchemaRow[]): FileProblem | undefined {
  const tables = new Set(rows.map(({ name }) => name.toLowerCase()));
  for (const { name, sql } of rows) {
    const reason = judgeStatement(readTokens(sql), name, tables);
    if (reason !== undefined) return activeContent(`"${shown(name)}" is ${reason}.`);
  }
  return undefined;
}

function judgeStatement(
  tokens: readonly Token[],
  name: string,
  tables: ReadonlySet<string>,
): string | undefined {
  const [create, kind] = tokens.map(wordOf);
  if (create !== "create") return "defined by a statement that no database has";
  switch (kind) {
    case "table":
      return computesColumn(tokens) ? "a table with a computed column" : undefined;
    case "index":
    case "unique":
      return undefined;
    case "virtual":
      return isSpatialIndex(tokens, name) ? undefined : `a virtual table (${moduleOf(tokens)})`;
    case "trigger":
      return callsOnly(tokens, triggerCalls) && isKnownTrigger(name)
        ? undefined
        : "a trigger that no GeoPackage has";
    case "view":
      return isPlainView(tokens, tables) ? undefined : "a view that does more than select columns";
    default:
      return "defined by a statement that no GeoPackage has";
  }
}

function wordOf(token: Token | undefined): string {
  return token?.kind === "word" ? token.text.toLowerCase() : "";
}

function computesColumn(tokens: readonly Token[]): boolean {
  return tokens.some(
    (token, index) =>
      wordOf(token) === "generated" || (wordOf(token) === "as" && tokens[index + 1]?.text === "("),
  );
}

function moduleOf(tokens: readonly Token[]): string {
  const using = tokens.findIndex((token) => wordOf(token) === "using");
  return shown(tokens[using + 1]?.text ?? "no module");
}

/** `CREATE VIRTUAL TABLE rtree_t_c USING rtree(id, minx, maxx, miny, maxy)` */
function isSpatialIndex(tokens: readonly Token[], name: string): boolean {
  const using = tokens.findIndex((token) => wordOf(token) === "using");
  return using > 0 && wordOf(tokens[using + 1]) === "rtree" && /^rtree_/i.test(name);
}

const triggerNames =
  /^(?:rtree_.+_(?:insert|delete|update\d?)|trigger_(?:insert|delete)_feature_count_.+|gpkg_.+|.+_(?:zoom|tile_column|tile_row)_(?:insert|update))$/i;
const isKnownTrigger = (name: string): boolean => triggerNames.test(name);

const plainCalls =
  "abs as avg cast coalesce count exists group_concat ifnull in instr length lower ltrim max min nullif on replace round rtrim substr sum total trim upper using values and or not where select from join union all";
const viewCalls = new Set(plainCalls.split(" "));
const triggerCalls = new Set([
  ...viewCalls,
  ..."raise st_isempty st_minx st_maxx st_miny st_maxy when then else begin into of set update changes strftime".split(
    " ",
  ),
]);

/** True if every word or name before a parenthesis is one of `allowed`, or follows INTO or ON. */
function callsOnly(tokens: readonly Token[], allowed: ReadonlySet<string>): boolean {
  return tokens.every((token, index) => {
    if (token.kind === "mark" || tokens[index + 1]?.text !== "(") return true;
    const before = wordOf(tokens[index - 1]);
    return before === "into" || allowed.has(token.text.toLowerCase());
  });
}

/** Tables that SQLite and its extensions have without a definition. */
const builtIn =
  /^(?:pragma_|sqlite_|json_|dbstat|fts\d|rtreecheck|virtual|elementary|knn|generate_)/i;

function isPlainView(tokens: readonly Token[], tables: ReadonlySet<string>): boolean {
  const [, , ...rest] = tokens;
  if (!callsOnly(rest, viewCalls)) return false;
  return rest.every((token, index) => {
    if (token.kind === "mark") return true;
    if (builtIn.test(token.text)) return false;
    const before = wordOf(rest[index - 1]);
    if (before !== "from" && before !== "join") return true;
    return wordOf(token) === "select" || tables.has(token.text.toLowerCase());
  });
}

/** What is not closed reaches to the end, so that each character is read once. */
const pieces =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*(?:''[^']*)*(?:'|$)|"([^"]*(?:""[^"]*)*)(?:"|$)|`([^`]*(?:``[^`]*)*)(?:`|$)|\[([^\]]*)(?:\]|$)|([\p{L}_$][\p{L}\p{N}_$]*)|(\S)/gu;

/** Splits SQL into words, quoted names and other marks, without comments and literals. */
function readTokens(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const [, double, back, bracket, word, mark] of sql.matchAll(pieces)) {
    const name = double ?? back ?? bracket;
    if (word !== undefined) tokens.push({ kind: "word", text: word });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else if (mark !== undefined) tokens.push({ kind: "mark", text: mark });
  }
  return tokens;
}
