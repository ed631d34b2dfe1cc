/**
 * Searches XML of any size, piece by piece, for what leads out of it. The text is searched and not
 * parsed: a reference in a comment is refused too.
 */
import { externalReference, shown } from "./problem.ts";
import type { FileProblem } from "./problem.ts";

const references: readonly (readonly [RegExp, string])[] = [
  [/<!DOCTYPE|<!ENTITY/i, "It declares a document type or entities, which may name other files"],
  [/<(?:[\w.-]+:)?NetworkLink\b/i, "It is loaded from another place by a network link"],
  // Bounded: a file of such beginnings without an end would be searched for hours.
  [/<(?:[\w.-]+:)?include\b[^>]{0,200}\bhref\b/i, "It includes another file"],
  [/\bxlink:href\s{0,9}=\s{0,9}["'](?:file:|\/|\.\.\/|[a-z]:\\)/i, "It links to another file"],
];

/** GML names its schema in its first element; an address is never fetched, but a path is opened. */
const schemaLocations = /\bschemaLocation\s*=\s*(?:"([^"]*)"|'([^']*)')/gi;
const schemaBytes = 64 * 1024;
const path = /^(?:file:|\/|\.\.|[a-z]:\\)/i;

/** Encodings in which the patterns above are found as they are written. */
const readable = /^(?:utf-8|us-ascii|ascii|iso-8859-\d+|windows-125\d|latin-?1)$/i;

/** The attributes of a feature of KML. */
const extendedData = /<(?:[\w.-]+:)?ExtendedData[\s>]/g;

/** A reference may begin in one piece and end in the next. */
const overlap = 256;

export class XmlScanner {
  private problem: FileProblem | undefined;
  private tail = "";
  private head = "";
  private isFirst = true;
  /** Features of KML with attributes of their own. */
  extendedFeatures = 0;

  push(bytes: Uint8Array): void {
    if (this.problem !== undefined) return;
    const text = this.tail + decodeLatin(bytes);
    if (this.isFirst) this.checkEncoding(text);
    if (this.head.length < schemaBytes) this.head += decodeLatin(bytes.subarray(0, schemaBytes));
    // A character in two bytes: no XML in one byte has a zero.
    if (text.includes("\u0000")) this.problem ??= inUtf16;
    for (const [pattern, words] of references) {
      const found = pattern.exec(text);
      if (found !== null) {
        this.problem ??= externalReference(`${words}: "${shown(found[0])}".`);
      }
    }
    for (const { index, 0: mark } of text.matchAll(extendedData)) {
      // Those within the tail were counted with the piece before.
      if (index + mark.length > this.tail.length) this.extendedFeatures++;
    }
    this.tail = text.slice(-overlap);
  }

  end(): FileProblem | undefined {
    return this.problem ?? findSchema(this.head);
  }

  private checkEncoding(text: string): void {
    this.isFirst = false;
    const declaration = /^\s*<\?xml[^>]*/.exec(text)?.[0] ?? "";
    const named = /\bencoding\s*=\s*["']([^"']*)["']/.exec(declaration)?.[1];
    if (named === undefined || readable.test(named)) return;
    this.problem = externalReference(
      `Its encoding is "${shown(named)}", in which references cannot be found: save it as UTF-8.`,
    );
  }
}

const inUtf16 = externalReference(
  "Its encoding is UTF-16, in which references cannot be found: save it as UTF-8.",
);

function findSchema(head: string): FileProblem | undefined {
  for (const [, double, single] of head.matchAll(schemaLocations)) {
    const named = (double ?? single ?? "").split(/\s+/).find((each) => path.test(each));
    if (named === undefined) continue;
    return externalReference(`It names a file as its schema: "${shown(named)}".`);
  }
  return undefined;
}

function decodeLatin(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return text;
}
