import { EmbeddedPostgresError } from "./error.ts";
import { noBinaries } from "./find-binaries.ts";
import type { Binaries, Preference } from "./find-binaries.ts";

/**
 * The first candidate for a new cluster. An existing one goes on with its own version, even when a
 * better one has been installed since: only that one can read it.
 */
export function chooseBinaries(
  candidates: readonly Binaries[],
  { prefer, made, dataDirectory }: ChooseOptions,
): Binaries {
  const [first] = candidates;
  if (first === undefined) throw noBinaries(prefer);
  if (made === undefined) return first;
  const match = candidates.find(({ major }) => major === made);
  if (match !== undefined) return match;
  const found = candidates.map(({ major, source }) => `${major} (${source})`).join(", ");
  throw new EmbeddedPostgresError(
    "VERSION_MISMATCH",
    `The data in ${dataDirectory} was made by PostgreSQL ${made}, and here is only ${found}. ` +
      `Install PostgreSQL ${made}; or name another data directory to begin anew; or keep the data: ` +
      `run pg_dump on a machine with PostgreSQL ${made}, and restore the dump into a new directory.`,
  );
}

export interface ChooseOptions {
  readonly prefer: Preference;
  /** The major version that made the existing cluster. */
  readonly made: number | undefined;
  readonly dataDirectory: string;
}
