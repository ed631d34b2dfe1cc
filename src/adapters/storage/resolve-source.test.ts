import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseNetworks } from "../net/check-address.ts";
import { httpsSource } from "./https-source.ts";
import { createLocalStorage } from "./local-storage.ts";
import type { SourceResolver } from "./resolve-source.ts";
import { createSourceResolver } from "./resolve-source.ts";

let folder: string;
let mount: string;
let sources: SourceResolver;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-sources-"));
  mount = path.join(folder, "mount");
  await mkdir(path.join(mount, "deep"), { recursive: true });
  await writeFile(path.join(mount, "deep/a.tif"), "mounted");
  await writeFile(path.join(folder, "secret.tif"), "secret");
  await symlink(path.join(folder, "secret.tif"), path.join(mount, "link.tif"));
  await symlink(folder, path.join(mount, "up"));
  const storage = createLocalStorage(path.join(folder, "storage"));
  for (const name of ["silver/x.tif", "silver/deep/y.tif", "silver/a.zip"]) {
    await storage.put(name, new TextEncoder().encode(name));
  }
  await symlink(folder, path.join(folder, "storage/silver/out"));
  sources = createSourceResolver({
    storage,
    https: {
      allowedHosts: ["data.example.org", "*.tiles.example.org", "here.example.org:8443"],
    },
    mounts: [mount],
    containers: { mysilver: "silver" },
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a source in storage", () => {
  it.each([
    ["silver/x.tif", undefined, "silver/x.tif"],
    ["x.tif", "silver", "silver/x.tif"],
    ["silver/x.tif", "silver", "silver/x.tif"],
    ["deep/y.tif", "silver", "silver/deep/y.tif"],
    ["mysilver/x.tif", undefined, "silver/x.tif"],
    ["x.tif", "mysilver", "silver/x.tif"],
  ])("is %j in the container %j", async (blobPath, container, display) => {
    const source = await sources.resolve(blobPath, container);
    expect(source).toMatchObject({ kind: "storage", display });
    expect(await source.localPath()).toBe(path.join(folder, "storage", display));
    expect(await source.head()).toMatchObject({ bytes: display.length });
    const file = path.join(folder, "fetched");
    expect(await source.fetchTo(file)).toMatchObject({ bytes: display.length });
    expect(await readFile(file, "utf8")).toBe(display);
  });

  it("that is not there has no head", async () => {
    const source = await sources.resolve("silver/none.tif");
    expect(await source.head()).toBeUndefined();
    await expect(source.localPath()).rejects.toMatchObject({ code: "NOT_IN_STORAGE" });
  });
});

describe("a source elsewhere", () => {
  it("is a file below a mount", async () => {
    const source = await sources.resolve(path.join(mount, "deep/a.tif"));
    expect(source).toMatchObject({ kind: "file" });
    expect(await source.localPath()).toBe(path.join(mount, "deep/a.tif"));
    expect(await source.head()).toMatchObject({ bytes: 7 });
  });

  it.each([
    ["https://data.example.org/a/b.tif?sig=secret#x", "https://data.example.org/a/b.tif"],
    ["https://DATA.example.org/b.tif", "https://data.example.org/b.tif"],
    ["https://eu.tiles.example.org/b.tif", "https://eu.tiles.example.org/b.tif"],
    ["https://here.example.org:8443/b.tif", "https://here.example.org:8443/b.tif"],
  ])("is the address %s, shown without its secrets", async (text, display) => {
    const source = await sources.resolve(text);
    expect(source).toMatchObject({ kind: "https", display });
    expect(await source.localPath()).toBeUndefined();
  });
});

it.each([
  ["silver/../bronze/x.tif", undefined, "BAD_STORAGE_PATH"],
  ["../x.tif", "silver", "BAD_STORAGE_PATH"],
  ["/etc/passwd", "silver", "BAD_STORAGE_PATH"],
  ["secret/x.tif", undefined, "BAD_STORAGE_PATH"],
  ["x.tif", "secret", "BAD_STORAGE_PATH"],
  ["PG:dbname=x", undefined, "BAD_STORAGE_PATH"],
  ["silver/x\u0000.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["silver\\x.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/etc/passwd", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["MOUNT/../secret.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["MOUNT/link.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["MOUNT/up/secret.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["MOUNT/../none.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["http://data.example.org/b.tif", undefined, "SOURCE_SCHEME_NOT_ALLOWED"],
  ["ftp://data.example.org/b.tif", undefined, "SOURCE_SCHEME_NOT_ALLOWED"],
  ["file:///etc/passwd", undefined, "SOURCE_SCHEME_NOT_ALLOWED"],
  ["s3://bucket/key", undefined, "SOURCE_SCHEME_NOT_ALLOWED"],
  ["https://user:pass@data.example.org/b.tif", undefined, "SOURCE_HAS_CREDENTIALS"],
  ["https://evil.org/b.tif", undefined, "SOURCE_HOST_NOT_ALLOWED"],
  ["https://data.example.org.evil.org/b.tif", undefined, "SOURCE_HOST_NOT_ALLOWED"],
  ["https://data.example.org:8443/b.tif", undefined, "SOURCE_HOST_NOT_ALLOWED"],
  ["https://tiles.example.org.evil/b.tif", undefined, "SOURCE_HOST_NOT_ALLOWED"],
  ["https://eviltiles.example.org/b.tif", undefined, "SOURCE_HOST_NOT_ALLOWED"],
  ["https://127.0.0.1/b.tif", undefined, "SOURCE_HOST_NOT_ALLOWED"],
  ["https://[::1]/b.tif", undefined, "SOURCE_HOST_NOT_ALLOWED"],
  ["/vsicurl/https://data.example.org/b.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["//vsicurl/https://data.example.org/b.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/VSIcurl/https://data.example.org/b.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsicurl?url=https://evil.org/b.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsicurl_streaming/https://evil.org/b.tif", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsis3/bucket/key", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsisubfile/0_100,/etc/passwd", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsistdin/", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsizip/silver/a.zip/in/b.shp", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsizip/{silver/a.zip}/in/b.shp", undefined, "SOURCE_PATH_NOT_ALLOWED"],
  ["/vsigzip/silver/a.gz", undefined, "SOURCE_PATH_NOT_ALLOWED"],
])("refuses %j in the container %j with %s", async (text, container, code) => {
  const refusal = sources.resolve(text.replace("MOUNT", mount), container);
  await expect(refusal).rejects.toMatchObject({ code, category: "permanent" });
  await refusal.catch((error: unknown) => {
    expect(String(error)).not.toMatch(/pass@|secret\.tif:/);
  });
});

it("does not follow a link out of a zone", async () => {
  const source = await sources.resolve("silver/out/secret.tif");
  await expect(source.localPath()).rejects.toMatchObject({ code: "BAD_STORAGE_PATH" });
  await expect(source.head()).rejects.toMatchObject({ code: "BAD_STORAGE_PATH" });
});

describe("a server", () => {
  let server: Server;
  let base: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/file" }).end();
      else if (request.url === "/busy") response.writeHead(503).end();
      else if (request.url === "/getonly" && request.method === "HEAD")
        response.writeHead(405).end();
      else if (request.url === "/getonly")
        response.writeHead(206, { "content-range": "bytes 0-0/7" }).end("c");
      else if (request.url === "/endless") {
        response.writeHead(200);
        const send = () => response.write(Buffer.alloc(65_536), () => response.destroyed || send());
        send();
      } else if (request.url === "/silent") response.writeHead(200).write("c");
      else if (request.url === "/file") response.writeHead(200, { etag: '"1"' }).end("content");
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  /** Only for this test may the address be http: there is no certificate here. */
  const at = (name: string) =>
    httpsSource(`${base}${name}`, { allowedHosts: [new URL(base).host], schemes: ["http:"] });

  it("gives its file, and its failures are known ones", async () => {
    const file = path.join(folder, "served");
    expect(await at("/file").fetchTo(file)).toEqual({ bytes: 7 });
    expect(await readFile(file, "utf8")).toBe("content");
    expect(await at("/file").head()).toMatchObject({ etag: '"1"' });
    expect(await at("/none").head()).toBeUndefined();
    await expect(at("/none").fetchTo(file)).rejects.toMatchObject({ category: "permanent" });
    await expect(at("/busy").fetchTo(file)).rejects.toMatchObject({ category: "transient" });
    // The target of the redirect is not on the allow-list.
    await expect(at("/moved").fetchTo(file)).rejects.toMatchObject({ code: "SOURCE_NOT_SERVED" });
  });

  it("that sends too much, or nothing any more, is left", async () => {
    const limited = (name: string) =>
      httpsSource(`${base}${name}`, {
        allowedHosts: [new URL(base).host],
        schemes: ["http:"],
        maxBytes: 1_000_000,
        idleMs: 200,
      });
    const file = path.join(folder, "limited");
    await expect(limited("/endless").fetchTo(file)).rejects.toMatchObject({
      code: "SOURCE_TOO_LARGE",
      category: "permanent",
    });
    await expect(limited("/silent").fetchTo(file)).rejects.toMatchObject({
      code: "SOURCE_UNREACHABLE",
      category: "transient",
    });
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it("that knows no HEAD is asked for a byte", async () => {
    expect(await at("/getonly").head()).toEqual({ bytes: 7, etag: null });
  });

  it("that cannot be reached is a failure that may pass", async () => {
    const unreachable = httpsSource("http://127.0.0.1:9/a", {
      allowedHosts: ["127.0.0.1:9"],
      schemes: ["http:"],
    });
    const refusal = { code: "SOURCE_UNREACHABLE", category: "transient" };
    await expect(unreachable.head()).rejects.toMatchObject(refusal);
  });

  it("is not called where its name resolves to an address that is not allowed", async () => {
    const { port } = new URL(base);
    const named = (lookup: () => string[], privateNetworks: string[] = []) =>
      httpsSource(`http://data.example.org:${port}/file`, {
        allowedHosts: [`data.example.org:${port}`],
        privateNetworks: parseNetworks(privateNetworks),
        lookup: async () => lookup().map((address) => ({ address, family: 4 })),
        schemes: ["http:"],
      });
    for (const addresses of [["127.0.0.1"], ["8.8.8.8", "169.254.169.254"]]) {
      const source = named(() => addresses);
      const refusal = { code: "SOURCE_HOST_NOT_ALLOWED", category: "permanent" };
      await expect(source.head()).rejects.toMatchObject(refusal);
      await expect(source.fetchTo(path.join(folder, "no"))).rejects.toMatchObject(refusal);
    }
    // DNS is asked once for each request: a second answer cannot lead elsewhere.
    let asked = 0;
    const allowed = named(() => [["127.0.0.1"], ["127.0.0.9"]][asked++] ?? [], ["127.0.0.1/32"]);
    expect(await allowed.head()).toMatchObject({ etag: '"1"' });
    expect(asked).toBe(1);
  });
});
