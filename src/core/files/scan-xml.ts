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
];

/** Encodings in which the patterns above are found as they are written. */
const readable = /^(?:utf-8|us-ascii|ascii|iso-8859-\d+|windows-125\d|latin-?1)$/i;

/** A reference may begin in one piece and end in the next. */
const overlap = 256;

export class XmlScanner {
  private problem: FileProblem | undefined;
  private tail = "";
  private isFirst = true;

  push(bytes: Uint8Array): void {
    if (this.problem !== undefined) return;
    const text = this.tail + decodeLatin(bytes);
    if (this.isFirst) this.checkEncoding(text);
    for (const [pattern, words] of references) {
      const found = pattern.exec(text);
      if (found !== null) {
        this.problem ??= externalReference(`${words}: "${shown(found[0])}".`);
      }
    }
    this.tail = text.slice(-overlap);
  }

  end(): FileProblem | undefined {
    return this.problem;
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

function decodeLatin(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return text;
}
