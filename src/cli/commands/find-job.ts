import type { Client } from "../../core/api/client.ts";
import { UsageError } from "../common/failure.ts";

const wholeId = /^[0-9a-f]{32}$/;
/** A shorter beginning fits too many jobs. */
const shortestPrefix = 4;
const mostNamed = 5;

/** Answers the id of the one job whose id begins so. A beginning of no job is answered unchanged. */
export async function jobIdOf(client: Client, given: string): Promise<string> {
  if (wholeId.test(given) || given.length < shortestPrefix) return given;
  const { items } = await client.listJobs({ query: { search: given, limit: 100 } });
  const ids = items.map(({ job_id }) => job_id).filter((id) => id.startsWith(given));
  const [first] = ids;
  if (first === undefined || ids.includes(given)) return given;
  if (ids.length === 1) return first;
  const named = ids.slice(0, mostNamed).join(", ");
  throw new UsageError(`${ids.length} jobs begin with "${given}": ${named}. Give more of the id.`);
}
