/**
 * Our schemas as text: what all migrations together amount to, to be read and compared.
 *
 * Read from the catalogues, because pg_dump does not come with the embedded server, and its text
 * differs from version to version. Everything is sorted by name and nothing depends on oids, so the
 * same migrations give the same text; where versions of PostgreSQL describe a thing differently
 * (from 18 on NOT NULL is a named constraint) it is left to the one place that says it in all.
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
      // The server leaves out the schemas that are on the path; with none there, it names them all.
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
