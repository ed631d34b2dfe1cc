/** Parses the well-known text of a CRS to a tree: `KEYWORD["text", 1.5, INNER[…]]`. */

export interface WktNode {
  readonly keyword: string;
  readonly values: readonly (string | number)[];
  readonly children: readonly WktNode[];
  /** The node as it is written, with everything in it. */
  readonly text: string;
}

const longest = 64 * 1024;
const deepest = 32;

/** Undefined: the text has another form. */
export function parseWkt(text: string): WktNode | undefined {
  if (text.length > longest) return undefined;
  const reader = { text, at: 0 };
  const node = readNode(reader, 0);
  skipSpace(reader);
  return reader.at === text.length ? node : undefined;
}

interface Reader {
  readonly text: string;
  at: number;
}

function skipSpace(reader: Reader): void {
  while (/\s/.test(reader.text[reader.at] ?? "")) reader.at++;
}

function take(reader: Reader, pattern: RegExp): string | undefined {
  skipSpace(reader);
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0];
  if (found !== undefined) reader.at += found.length;
  return found;
}

const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const open = /[[(]/y;
const close = /[\])]/y;
const comma = /,/y;
const quoted = /"(?:[^"]|"")*"/y;
const number = /[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y;

function readNode(reader: Reader, depth: number): WktNode | undefined {
  if (depth > deepest) return undefined;
  skipSpace(reader);
  const start = reader.at;
  const keyword = take(reader, word);
  if (keyword === undefined || take(reader, open) === undefined) return undefined;
  const values: (string | number)[] = [];
  const children: WktNode[] = [];
  do {
    if (!readPart(reader, depth, values, children)) return undefined;
  } while (take(reader, comma) !== undefined);
  if (take(reader, close) === undefined) return undefined;
  const text = reader.text.slice(start, reader.at);
  return { keyword: keyword.toUpperCase(), values, children, text };
}

function readPart(
  reader: Reader,
  depth: number,
  values: (string | number)[],
  children: WktNode[],
): boolean {
  const text = take(reader, quoted);
  if (text !== undefined) {
    values.push(text.slice(1, -1).replaceAll('""', '"'));
    return true;
  }
  const digits = take(reader, number);
  if (digits !== undefined) {
    values.push(Number(digits));
    return true;
  }
  const start = reader.at;
  const name = take(reader, word);
  if (name === undefined) return false;
  const isNode = take(reader, open) !== undefined;
  if (!isNode) {
    // A bare word, such as the direction of an axis.
    values.push(name);
    return true;
  }
  reader.at = start;
  const child = readNode(reader, depth + 1);
  if (child === undefined) return false;
  children.push(child);
  return true;
}

export function findChild(node: WktNode, ...keywords: string[]): WktNode | undefined {
  return node.children.find(({ keyword }) => keywords.includes(keyword));
}

/** The first such node below this one, at any depth, nearest to the root. */
export function findBelow(node: WktNode, ...keywords: string[]): WktNode | undefined {
  let level = node.children;
  while (level.length > 0) {
    const found = level.find(({ keyword }) => keywords.includes(keyword));
    if (found !== undefined) return found;
    level = level.flatMap(({ children }) => children);
  }
  return undefined;
}

export function textOf(node: WktNode | undefined): string {
  const [first] = node?.values ?? [];
  return typeof first === "string" ? first : "";
}
