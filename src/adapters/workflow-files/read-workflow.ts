import { Composer, LineCounter, Parser } from "yaml";
import type { Finding } from "../../core/dag/finding.ts";
import { errorAt } from "../../core/dag/finding.ts";
import { buildTree } from "./build-tree.ts";
import type { Position } from "./positions.ts";
import { Positions } from "./positions.ts";
import type { CST } from "yaml";

export const largestFile = 1024 * 1024;
/** One mistake can break all lines after it; more messages would only bury the first. */
const mostSyntaxErrors = 20;

/** The complement of YAML's printable characters, which the library accepts. */
const notPrintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

export interface ReadWorkflow {
  /** Undefined if the text gave no tree; then the findings say why. */
  readonly tree: unknown;
  readonly findings: readonly Finding[];
  /** Finds the place of any finding, also of those about the tree that `compile` returns. */
  readonly locate: (finding: Finding) => Position;
}

/**
 * Reads YAML 1.2 with the core schema, restricted to what workflows need: `on` and `yes` are text.
 */
export function readWorkflow(text: string): ReadWorkflow {
  const lines = new LineCounter();
  const positions = new Positions(text, lines);
  const findings: Finding[] = [];
  const tree = read(text, lines, positions, findings);
  return { tree, findings, locate: (finding) => positions.locate(tree, finding) };
}

function read(
  text: string,
  lines: LineCounter,
  positions: Positions,
  findings: Finding[],
): unknown {
  const report = (code: Finding["code"], offset: number, message: string): void => {
    findings.push(positions.at(offset, errorAt(code, [], message)));
  };
  if (text.length > largestFile) {
    report("FILE_TOO_LARGE", 0, tooLarge(text.length));
    return undefined;
  }
  const strange = notPrintable.exec(text);
  if (strange !== null) {
    const code = strange[0].codePointAt(0)?.toString(16).padStart(4, "0") ?? "";
    report("YAML_SYNTAX", strange.index, `U+${code} is not allowed: is this a text file?`);
    return undefined;
  }
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  // Checked before composing, which is recursive and would overflow the stack.
  const deep = findTooDeep(tokens);
  if (deep !== undefined) {
    report("TOO_DEEP", deep, "nested too deeply");
    return undefined;
  }
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    // Duplicates are found while the tree is built; this option would compare every key with every
    // other.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents = [...composer.compose(tokens, true, text.length)];
  for (const { errors } of documents) {
    for (const { pos, message } of errors.slice(0, mostSyntaxErrors - findings.length)) {
      report("YAML_SYNTAX", pos[0], message + quotesHint(text, pos[0]));
    }
  }
  if (findings.length > 0) return undefined;
  const [first, second] = documents;
  if (second !== undefined) {
    const offset = second.range[0];
    report("YAML_UNSUPPORTED", offset, "a file holds one workflow: move this document to its own");
  }
  const version = first?.directives.yaml;
  if (version?.explicit === true && version.version !== "1.2") {
    report("YAML_UNSUPPORTED", 0, `YAML ${version.version} is not supported: remove the directive`);
  }
  return buildTree(first?.contents ?? null, positions, findings);
}

export function tooLarge(size: number): string {
  return `${size} bytes; a workflow may have at most ${largestFile}`;
}

/** YAML reads braces without quotes as a mapping, and its own message says nothing of templates. */
function quotesHint(text: string, offset: number): string {
  const from = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(from, end === -1 ? text.length : end);
  const outside = line.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "");
  return outside.includes("{{") ? '; write a template in quotes: "{{ … }}"' : "";
}

/** Above the limit of the tree itself, because brackets and pairs also count here. */
const deepestSyntax = 500;

/** The offset of the first collection that is nested too deeply for the recursive reader. */
export function findTooDeep(tokens: readonly CST.Token[]): number | undefined {
  const open: { token: CST.Token; depth: number }[] = [];
  for (const token of tokens) {
    if (token.type === "document" && token.value !== undefined) {
      open.push({ token: token.value, depth: 0 });
    }
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (!("items" in token)) continue;
    if (depth > deepestSyntax) return token.offset;
    for (const { key, value } of token.items) {
      if (key != null) open.push({ token: key, depth: depth + 1 });
      if (value != null) open.push({ token: value, depth: depth + 1 });
    }
  }
  return undefined;
}
