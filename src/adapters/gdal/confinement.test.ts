/**
 * Files that make GDAL itself reach for what is not theirs, and runs that meet the limits, in every
 * sandbox that works on this machine.
 */
import { execFile } from "node:child_process";
import { link, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { externalHdf5, rasterAttacks, vectorAttacks } from "../../../test/support/attack-files.ts";
import { createGdal } from "./create-gdal.ts";
import { findSandbox } from "./find-sandbox.ts";
import type { Gdal, GdalRunOptions } from "./gdal.ts";
import type { LimitSettings } from "./limits.ts";
import { findNativeGdal } from "./native-gdal.ts";
import { createWasmGdal } from "./wasm-gdal.ts";

const secret = "SECRETSECRETSECR";
/** Files by which GDAL 3.6 shows the canary or calls its server where nothing confines it. */
const leaking = new Set([
  "overview_inline_vrt",
  "overview_streamed",
  "overview_netcdf",
  "overview_in_numbers_3",
  "overview_after_lost_directories",
  "sidecars",
  "spatialite_view",
  "crs_link",
  "crs_link_after_nul",
]);
const folders = ["/usr/local/bin", "/usr/bin"];

let folder: string;
let workDir: string;
let source: string;
let server: Server;
const requests: string[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "rmhdag-confined-"));
  workDir = path.join(folder, "work");
  await mkdir(workDir);
  source = path.join(folder, "source.asc");
  await writeFile(source, "ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n");
  await writeFile(path.join(folder, "canary.bin"), secret);
  await writeFile(path.join(folder, "canary.csv"), `name\n${secret}\n`);
  await symlink(path.join(folder, "canary.csv"), path.join(workDir, "link.csv"));
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end(secret);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  expect(requests).toEqual([]);
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

interface Confined {
  readonly name: string;
  readonly make: (limits: LimitSettings) => Promise<Gdal | undefined>;
}

const natives = (["bubblewrap", "namespaces"] as const).map((kind): Confined => ({
  name: `native, ${kind}`,
  make: (limits) => findNativeGdal(folders, { sandboxes: [kind], limits }),
}));
const wasms = (["wasm", "bubblewrap"] as const).map((kind): Confined => ({
  name: `WebAssembly, ${kind}`,
  make: async (limits) => {
    if (kind === "wasm") return createWasmGdal({ limits });
    const { sandbox } = await findSandbox([process.execPath], [kind]);
    return sandbox === undefined ? undefined : createWasmGdal({ sandbox, limits });
  },
}));
const engines = await Promise.all(
  [...natives, ...wasms].map(async (each) => ({ ...each, gdal: await each.make({}) })),
);

const hasBubblewrap = engines.some(({ gdal }) => gdal?.sandbox === "bubblewrap");

for (const { name, make, gdal } of engines) {
  const title = gdal === undefined ? `${name} (needs GDAL and its sandbox)` : name;
  describe.skipIf(gdal === undefined)(title, () => {
    describeConfined(gdal!);
    if (gdal?.engine === "native") describeLimits(make);
  });
}

function describeConfined(gdal: Gdal): void {
  const options = (): GdalRunOptions => ({
    workDir,
    sources: [source],
    // Without the options that keep GDAL from trying: the sandbox alone must hold.
    env: { GDAL_VRT_ENABLE_RAWRASTERBAND: "YES", CPL_VSIL_CURL_ALLOWED_FILENAME: address() },
  });
  const address = () => `/vsicurl/http://127.0.0.1:${(server.address() as AddressInfo).port}/a.tif`;

  it("opens its source, by the name it was given and read-only", async () => {
    const { stdout } = await gdal.run("gdalinfo", ["-json", source], options());
    expect(JSON.parse(stdout)).toMatchObject({ size: [2, 1] });
    const before = await readFile(source, "utf8");
    const write = ["-of", "AAIGrid", "-ot", "Byte", "-scale", source, `${folder}/other.asc`];
    // It may believe that it has written: a folder of /tmp is its own.
    await gdal.run("gdal_translate", write, options()).catch(() => undefined);
    expect(await readdir(folder)).not.toContain("other.asc");
    const over = ["-of", "ENVI", source, path.join(folder, "canary.bin")];
    await gdal.run("gdal_translate", over, options()).catch(() => undefined);
    expect(await readFile(source, "utf8")).toBe(before);
    expect(await readFile(path.join(folder, "canary.bin"), "utf8")).toBe(secret);
  });

  it("shows nothing of a neighbour by a raw band of a virtual raster", async () => {
    for (const file of ["canary.bin", `work/../canary.bin`]) {
      await writeFile(path.join(workDir, "raw.vrt"), rawBand(path.join(folder, file)));
      await gdal
        .run("gdal_translate", ["-of", "ENVI", "raw.vrt", "raw.img"], options())
        .catch(() => undefined);
      const got = await readFile(path.join(workDir, "raw.img"), "utf8").catch(() => "");
      expect(got).not.toContain(secret.slice(0, 4));
      await rm(path.join(workDir, "raw.img"), { force: true });
    }
  });

  it.each(["canary.csv", "../canary.csv", "link.csv"])("does not open %s", async (name) => {
    const file = name === "canary.csv" ? path.join(folder, name) : name;
    const failing = gdal.run("ogrinfo", ["-ro", "-al", file], options());
    await expect(failing).rejects.toThrow();
    await failing.catch((error: unknown) => {
      expect(String(error)).not.toContain(secret);
    });
  });

  it("does not open its own or its worker's environment, nor a hard link's neighbours", async () => {
    for (const file of ["/proc/self/environ", `/proc/${process.pid}/environ`, "/etc/passwd"]) {
      await writeFile(path.join(workDir, "raw.vrt"), rawBand(file));
      await gdal
        .run("gdal_translate", ["-of", "ENVI", "raw.vrt", "raw.img"], options())
        .catch(() => undefined);
      const got = await readFile(path.join(workDir, "raw.img")).catch(() => Buffer.alloc(0));
      expect(got.every((byte) => byte === 0)).toBe(true);
      await rm(path.join(workDir, "raw.img"), { force: true });
    }
    const linked = path.join(folder, "linked.asc");
    await link(source, linked);
    await expect(gdal.run("gdalinfo", [linked], options())).rejects.toThrow();
    await rm(linked);
  });

  // Each file is a new process of WebAssembly, and takes seconds there.
  it.skipIf(gdal.engine === "wasm")(
    "finds nothing by the files of attackers, opened with every driver",
    async () => {
      const { port } = server.address() as AddressInfo;
      const canary = { file: path.join(folder, "canary.raw"), url: `http://127.0.0.1:${port}` };
      await writeFile(canary.file, `${secret}\n`.repeat(40_000));
      for (const { name, files } of [...rasterAttacks(canary), ...vectorAttacks(canary)]) {
        if (!leaking.has(name)) continue;
        const own = path.join(folder, name);
        await mkdir(own, { recursive: true });
        const sources = Object.keys(files).map((each) => path.join(own, each));
        for (const [each, bytes] of Object.entries(files)) {
          await writeFile(path.join(own, each), bytes);
        }
        const [file = ""] = sources;
        const output = `${name}.bin`;
        const run = file.endsWith(".tif")
          ? gdal.run("gdal_translate", ["-outsize", "50%", "0", "-of", "ENVI", file, output], {
              ...options(),
              sources,
            })
          : gdal.run("ogrinfo", ["-ro", "-al", file], { ...options(), sources });
        const shown = await run.then(({ stdout }) => stdout, String);
        const pixels = await readFile(path.join(workDir, output), "latin1").catch(() => "");
        expect([name, (shown + pixels).includes(secret)]).toEqual([name, false]);
        await rm(path.join(workDir, output), { force: true });
      }
    },
    60_000,
  );

  it.skipIf(!gdal.capabilities.rasterDrivers.includes("HDF5"))(
    "shows nothing of a file that an HDF5 file names as the place of its pixels",
    async () => {
      const canary = path.join(folder, "canary.raw");
      await writeFile(canary, `${secret}\n`.repeat(40_000));
      const file = path.join(folder, "external.h5");
      await writeFile(file, externalHdf5({ file: canary }));
      const args = ["-of", "ENVI", `HDF5:"${file}"://a`, "external.bin"];
      await gdal
        .run("gdal_translate", args, { ...options(), sources: [file] })
        .catch(() => undefined);
      const pixels = await readFile(path.join(workDir, "external.bin"), "latin1").catch(() => "");
      expect(pixels).not.toContain(secret);
      await rm(path.join(workDir, "external.bin"), { force: true });
    },
  );

  it("calls no host", async () => {
    const url = address();
    for (const name of [url, url.replace("/vsicurl/", "/vsicurl_streaming/")]) {
      await expect(
        gdal.run("gdalinfo", [name], { ...options(), timeoutMs: 30_000 }),
      ).rejects.toThrow();
    }
  });
}

function describeLimits(make: Confined["make"]): void {
  it("is stopped at the limit of memory", async () => {
    const gdal = await make({ memoryMb: 256 });
    const args = ["-of", "MEM", "-outsize", "30000", "30000", source, "none"];
    const running = gdal!.run("gdal_translate", args, { workDir, sources: [source] });
    await expect(running).rejects.toMatchObject({
      code: "GDAL_MEMORY_LIMIT",
      category: "permanent",
      message: expect.stringMatching(/256 MiB of memory.*GDAL_MEMORY_MB/) as string,
    });
  });

  it("is stopped at the limit of processor time", async () => {
    const gdal = await make({ cpuSeconds: 1 });
    const args = ["-r", "lanczos", "-ts", "20000", "20000", "-s_srs", "EPSG:4326"];
    const running = gdal!.run("gdalwarp", [...args, "-t_srs", "EPSG:3857", source, "long.tif"], {
      workDir,
      sources: [source],
    });
    await expect(running).rejects.toMatchObject({
      code: "GDAL_CPU_LIMIT",
      message: expect.stringContaining("GDAL_CPU_SECONDS") as string,
    });
    await rm(path.join(workDir, "long.tif"), { force: true });
  }, 60_000);

  it("is stopped at the limit of a file", async () => {
    const gdal = await make({ outputMb: 2 });
    const args = ["-of", "GTiff", "-outsize", "2000", "2000", source, "large.tif"];
    const running = gdal!.run("gdal_translate", args, { workDir, sources: [source] });
    await expect(running).rejects.toMatchObject({
      code: "GDAL_OUTPUT_LIMIT",
      message: expect.stringContaining("GDAL_OUTPUT_MB") as string,
    });
    await rm(path.join(workDir, "large.tif"), { force: true });
  });
}

describe("the choice of an engine", () => {
  it("confines by default, and says by what", async () => {
    const gdal = await createGdal();
    expect(["bubblewrap", "namespaces", "wasm"]).toContain(gdal.sandbox);
    const unconfined = await createGdal({ sandbox: "off", prefer: "wasm" });
    expect(unconfined.sandbox).toBe("wasm");
  });

  it.skipIf(!hasBubblewrap)(
    "refuses every file where a sandbox is required and none works (needs bubblewrap)",
    async () => {
      const file = new URL("../../../dist/adapters/gdal/create-gdal.js", import.meta.url).href;
      const script = `import { createGdal } from ${JSON.stringify(file)};
        const told = [];
        for (const sandbox of ["require", "prefer"]) {
          const gdal = await createGdal({ sandbox });
          const run = gdal.run("gdalinfo", ["grid.asc"], { workDir: process.argv[1] });
          const { code = "", message = "" } = await run.then(() => ({}), (error) => error);
          told.push({ engine: gdal.engine, sandbox: gdal.sandbox, code, message });
        }
        await createGdal({ prefer: "native" }).catch(({ name, message }) => told.push({ name, message }));
        process.stdout.write(JSON.stringify(told));
        process.exit();`;
      await writeFile(path.join(workDir, "grid.asc"), await readFile(source));
      // A user namespace in which no other one can be made, as in many containers.
      const args = [
        "--unshare-user",
        "--disable-userns",
        "--cap-drop",
        "ALL",
        "--dev-bind",
        "/",
        "/",
      ];
      const { stdout } = await promisify(execFile)("bwrap", [
        ...[...args, "--", process.execPath, "--input-type=module", "-e", script, workDir],
      ]);
      expect(JSON.parse(stdout)).toEqual([
        {
          engine: "wasm",
          sandbox: "none",
          code: "GDAL_SANDBOX_MISSING",
          message: expect.stringMatching(
            /bubblewrap: bwrap: .*Install bubblewrap.*prefer/,
          ) as string,
        },
        { engine: "wasm", sandbox: "wasm", code: "", message: "" },
        { name: "ConfigError", message: expect.stringContaining("GDAL_ENGINE=auto") as string },
      ]);
    },
    60_000,
  );
});

function rawBand(file: string): string {
  return `<VRTDataset rasterXSize="16" rasterYSize="1"><VRTRasterBand dataType="Byte" band="1" subClass="VRTRawRasterBand">
    <SourceFilename relativetoVRT="0">${file}</SourceFilename><ImageOffset>0</ImageOffset>
    <PixelOffset>1</PixelOffset><LineOffset>16</LineOffset></VRTRasterBand></VRTDataset>`;
}
