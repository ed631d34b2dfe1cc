/** A PostgreSQL of a test's own that only answers in TLS, with a certificate of a private authority. */
import { execFile } from "node:child_process";
import { chmod, chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { layoutOf } from "../../src/adapters/embedded-postgres/layout.ts";
import { startEmbeddedPostgres } from "../../src/adapters/embedded-postgres/start-embedded-postgres.ts";

const run = promisify(execFile);

/** Why tests with certificates are skipped; undefined: they run. */
export const noOpenssl = await run("openssl", ["version"]).then(
  () => undefined,
  () => "needs openssl",
);

export interface TlsPostgres {
  /** Of the superuser, for the name in the certificate, with verify-full. */
  readonly url: string;
  /** The file of the authority. */
  readonly authority: string;
  stop(): Promise<void>;
}

export async function startTlsPostgres(): Promise<TlsPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), "rmhdag-tls-"));
  const dataDirectory = path.join(folder, "server");
  const server = await startEmbeddedPostgres({ dataDirectory, prefer: "npm", sync: false });
  const { data } = layoutOf(dataDirectory);
  const authority = path.join(folder, "authority.pem");
  await makeCertificates(folder, data);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query("ALTER SYSTEM SET ssl = on");
    await writeFile(path.join(data, "pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256\n");
    await client.query("SELECT pg_reload_conf()");
  } finally {
    await client.end();
  }
  const url = new URL(server.url);
  url.hostname = "localhost";
  url.searchParams.set("sslmode", "verify-full");
  url.searchParams.set("sslrootcert", authority);
  return {
    url: url.href,
    authority,
    stop: async () => {
      await server.stop().catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An authority, and a certificate for `localhost` and no address, with the server's own names. */
async function makeCertificates(folder: string, data: string): Promise<void> {
  const [authority, authorityKey] = [`${folder}/authority.pem`, `${folder}/authority.key`];
  const [certificate, key] = [`${data}/server.crt`, `${data}/server.key`];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await run("openssl", [
    ...["req", "-x509", ...curve, "-days", "1", "-subj", "/CN=authority of a test"],
    ...["-keyout", authorityKey, "-out", authority],
  ]);
  await run("openssl", [
    ...["req", "-x509", ...curve, "-days", "1", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"],
    ...["-CA", authority, "-CAkey", authorityKey, "-keyout", key, "-out", certificate],
  ]);
  await chmod(key, 0o600);
  // As root the server runs with another account, which must own its key.
  const { uid, gid } = await stat(data);
  for (const file of [certificate, key]) await chown(file, uid, gid);
}
