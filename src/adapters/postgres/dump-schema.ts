/**
 * Writes our schemas as SQL text, for people to read and for a test to compare.
 *
 * The text is read from the system catalogues, because pg_dump does not come with the embedded
 * server, and its text differs from version to version. Everything is sorted by name and nothing
 * depends on oids, so the same migrations give the same text. Where versions of PostgreSQL describe
 * an object differently (from 18 on NOT NULL is a named constraint), only the description that all
 * versions share is written.
 */
import type { Database } from "./database.ts";
import { catalogue } from "./schema-catalogue.ts";

const header = `-- What the migrations amount to. Generated from them: npm run generate`;

export async function dumpSchema(
  db: Database,
  schemas: readonly string[] = ["dagapp", "gateway", "geo"],
): Promise<string> {
  return db.transaction(
    async (tx) => {
      // PostgreSQL omits the names of schemas on the search path; so none of ours may be on it.
      await tx.query("SET LOCAL search_path = pg_catalog");
      const sections: string[] = [header];
      for (const section of catalogue) {
        const { rows } = await tx.query<{ text: string }>(section, [schemas]);
        if (rows.length > 0) sections.push(rows.map(({ text }) => text.trim()).join("\n"));
      }
      return `${sections.join("\n\n")}\n`;
    },
    { isolation: "repeatable read", readOnly: true },
  );
}
