/** Gathers the conditions of a WHERE and their values, so that none is ever spliced into text. */
export class Conditions {
  readonly values: unknown[];
  readonly #conditions: string[] = [];

  constructor(values: unknown[] = []) {
    this.values = values;
  }

  /** `text` has `?` where the value belongs; nothing happens when there is no value. */
  add(text: string, value: unknown): this {
    if (value === undefined) return this;
    this.#conditions.push(text.replaceAll("?", this.value(value)));
    return this;
  }

  always(text: string): this {
    this.#conditions.push(text);
    return this;
  }

  /** Places a value and returns its number. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  toString(): string {
    return this.#conditions.length === 0 ? "true" : this.#conditions.join("\n  AND ");
  }
}

/** For LIKE: what the user typed is text and no pattern. */
export function contains(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}

export function iso(date: Date): string {
  return date.toISOString();
}

export function isoOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** One row more than asked for tells whether there is another page, without a count. */
export function cut<Row>(rows: readonly Row[], limit: number): { rows: Row[]; last: Row | null } {
  const kept = rows.slice(0, limit);
  return { rows: kept, last: rows.length > limit ? (kept.at(-1) ?? null) : null };
}
