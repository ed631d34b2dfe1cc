import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vite";

/** Writes a gzipped copy of each file, so that the server does not compress while it answers. */
function gzipFiles(): Plugin {
  return {
    name: "gzip-files",
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

/** Serves the dashboard at `/ui` in watch mode too: vite itself knows only `/ui/`. */
function serveHome(): Plugin {
  return {
    name: "serve-home",
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        request.url = request.url?.replace(/^\/ui(?=$|\?)/, "/ui/");
        next();
      });
    },
  };
}

/**
 * The orchestrator behind the watch mode: `rmhdag up` on its default port. The Host header stays that
 * of the page: the orchestrator refuses changes by pages of another origin.
 */
const orchestrator = { target: "http://127.0.0.1:8000", changeOrigin: false };

export default defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  // In `npm run dev` other programs write to the same terminal.
  clearScreen: false,
  plugins: [gzipFiles(), serveHome()],
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
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    // Everything but the files of the console: the API, tiles, the catalogue, and signing in.
    proxy: { "^/(?!ui(?:/|$|\\?))": orchestrator, "^/ui/login": orchestrator },
  },
});
