/**
 * Collects the conditions of a WHERE and their values, so that no value is written into the SQL
 * text.
 */
export class Conditions {
  readonly values: unknown[];
  readonly #conditions: string[] = [];

  constructor(values: unknown[] = []) {
    this.values = values;
  }

  /** `text` has `?` in the place of the value. Does nothing if the value is undefined. */
  add(text: string, value: unknown): this {
    if (value === undefined) return this;
    this.#conditions.push(text.replaceAll("?", this.value(value)));
    return this;
  }

  always(text: string): this {
    this.#conditions.push(text);
    return this;
  }

  /** Adds a value and returns its placeholder. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  toString(): string {
    return this.#conditions.length === 0 ? "true" : this.#conditions.join("\n  AND ");
  }
}

/** A pattern for LIKE that finds the text literally. */
export function contains(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}

export function iso(date: Date): string {
  return date.toISOString();
}

export function isoOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/**
 * Queries read one row more than the limit; it shows that there is another page, without a count.
 */
export function cut<Row>(rows: readonly Row[], limit: number): { rows: Row[]; last: Row | null } {
  const kept = rows.slice(0, limit);
  return { rows: kept, last: rows.length > limit ? (kept.at(-1) ?? null) : null };
}
