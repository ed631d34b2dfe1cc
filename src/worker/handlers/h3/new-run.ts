/** What the discovery of rasters and of features have in common. */
import type { z } from "zod";
import { findKindOfH3Name } from "../../../adapters/postgres/queries/h3.ts";
import type { Queryable } from "../../../adapters/postgres/queryable.ts";
import type { H3Kind } from "../../../core/h3/configuration.ts";
import type { Owner, VersionOwner } from "../../../core/catalogue/owner.ts";
import { firstIssueText } from "../../../core/model/issue-text.ts";
import { PermanentError } from "../../errors.ts";

/** The data sets of a version do not mix with those of others. */
export function ownName(name: string, owner: Owner | undefined): string {
  return owner?.kind === "version" ? `${name.slice(0, 60)}${endingOf(owner)}` : name;
}

/** Whether the job of this owner may read and change the data set. */
export function isOwnName(name: string, owner: Owner | undefined): boolean {
  return owner?.kind !== "version" || name.endsWith(endingOf(owner));
}

function endingOf({ asset_id, version_ordinal }: VersionOwner): string {
  return `-${asset_id}-${version_ordinal}`;
}

export function withoutNull(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

export function readConfiguration<Schema extends z.ZodType>(
  schema: Schema,
  wanted: object,
): z.output<Schema> {
  const parsed = schema.safeParse(wanted);
  if (parsed.success) return parsed.data;
  const text = `The configuration is not valid: ${firstIssueText(parsed.error)}`;
  throw new PermanentError(text, { code: "CONFIGURATION_INVALID" });
}

/** A name of a data set leads to one address. */
export async function refuseTakenName(db: Queryable, name: string, kind: H3Kind): Promise<void> {
  const known = await findKindOfH3Name(db, name);
  if (known === undefined || known === kind) return;
  const text = `"${name}" is a data set of the kind ${known} already: give this one another name.`;
  throw new PermanentError(text, { code: "NAME_TAKEN" });
}
