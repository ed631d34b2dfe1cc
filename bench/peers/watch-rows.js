/** For engines without a wait primitive: the submitter looks at the row, first every millisecond, then less often. */
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

export async function openRows(url) {
  const client = new pg.Client({ connectionString: url, application_name: "bench watch" });
  await client.connect();
  const ask = async (text, values) => (await client.query({ text, values })).rows[0];
  return {
    ask,
    async until(text, values) {
      const began = performance.now();
      while (!(await ask(text, values))?.finished) {
        // One per cent of what was waited is exact enough, and spares the store thousands of looks.
        await pause(Math.min(10, 1 + (performance.now() - began) / 100));
      }
    },
    close: () => client.end(),
  };
}
