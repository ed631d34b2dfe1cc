/**
 * Our schemas as text: what all migrations together amount to, to be read and compared.
 *
 * Read from the catalogues, because pg_dump does not come with the embedded server, and its text
 * differs from version to version. Everything is sorted by name and nothing depends on oids, so the
 * same migrations give the same text; where versions of PostgreSQL describe a thing differently
 * (from 18 on NOT NULL is a named constraint) it is left to the one place that says it in all.
 */
import type { Queryable } from "./queryable.ts";
import { catalogue } from "./schema-catalogue.ts";

const header = `-- What the migrations amount to. Generated from them: npm run generate`;

export async function dumpSchema(
  db: Queryable,
  schemas: readonly string[] = ["dagapp", "geo"],
): Promise<string> {
  const sections: string[] = [header];
  for (const section of catalogue) {
    const { rows } = await db.query<{ text: string }>(section, [schemas]);
    if (rows.length > 0) sections.push(rows.map(({ text }) => text.trim()).join("\n"));
  }
  return `${sections.join("\n\n")}\n`;
}
