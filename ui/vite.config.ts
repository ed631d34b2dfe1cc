import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vite";

/** The server packs nothing while it answers: each file is packed once, here. */
function pack(): Plugin {
  return {
    name: "pack",
    apply: "build",
    writeBundle({ dir = "" }, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!/\.(?:js|mjs|css|json|svg|html)$/.test(name)) continue;
        const file = path.join(dir, name);
        writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  plugins: [pack()],
  esbuild: { jsx: "automatic" },
  worker: { format: "es" },
  build: {
    target: "es2022",
    outDir: "dist",
    // Not "assets", which is the address of a page.
    assetsDir: "files",
    emptyOutDir: true,
    // An inlined file would be a data: address, which the content security policy refuses.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4096,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8000", "/stac": "http://127.0.0.1:8000" } },
});
