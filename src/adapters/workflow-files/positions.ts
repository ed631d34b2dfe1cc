import type { LineCounter } from "yaml";
import type { Finding } from "../../core/dag/finding.ts";

export interface Position {
  /** Both count from 1, as in editors. */
  readonly line: number;
  readonly column: number;
}

/** The place of one entry of a mapping or list in the text. */
export interface Spot {
  readonly key: number;
  readonly value: number;
  /** For text: the place of its first character, after the quote if there is one. */
  readonly content?: number;
}

/**
 * Positions are stored by container and not by path: an alias gives the same container again, and a
 * finding inside it belongs to the line where the author wrote it.
 */
export class Positions {
  readonly #lines: LineCounter;
  readonly #text: string;
  readonly #spots = new WeakMap<object, Map<string | number, Spot>>();
  readonly #own = new WeakMap<Finding, number>();

  constructor(text: string, lines: LineCounter) {
    this.#text = text;
    this.#lines = lines;
  }

  place(container: object, key: string | number, spot: Spot): void {
    const spots = this.#spots.get(container) ?? new Map<string | number, Spot>();
    this.#spots.set(container, spots.set(key, spot));
  }

  /** For findings of the reader itself, which knows the offset but not the path. */
  at(offset: number, finding: Finding): Finding {
    this.#own.set(finding, offset);
    return finding;
  }

  locate(tree: unknown, finding: Finding): Position {
    return this.#position(this.#own.get(finding) ?? this.#offset(tree, finding));
  }

  /** A finding about a missing key is placed at the nearest container that exists. */
  #offset(tree: unknown, finding: Finding): number {
    let container = tree;
    let spot: Spot | undefined;
    let whole = true;
    for (const key of finding.path) {
      const next = isContainer(container) ? this.#spots.get(container)?.get(key) : undefined;
      if (next === undefined) {
        whole = false;
        break;
      }
      spot = next;
      container = (container as Record<string | number, unknown>)[key];
    }
    if (spot === undefined) return /\S/.exec(this.#text)?.index ?? 0;
    if (!whole || finding.at === "key") return spot.key;
    if (finding.offset === undefined || spot.content === undefined) return spot.value;
    return this.#inside(spot.content, container, finding.offset) ?? spot.value;
  }

  /** Only if the text stands in the file unchanged: folded lines and escapes shift characters. */
  #inside(start: number, value: unknown, offset: number): number | undefined {
    if (typeof value !== "string") return undefined;
    const same = this.#text.startsWith(value.slice(0, offset), start);
    return same ? start + offset : undefined;
  }

  #position(offset: number): Position {
    const { line, col } = this.#lines.linePos(Math.min(offset, this.#text.length));
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
