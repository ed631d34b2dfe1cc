/**
 * `npm run check:folders`: folders must not import each other in a cycle. Knip checks the same for
 * files.
 *
 * Within every folder its subfolders and files are the nodes of a graph. An import counts for the two
 * nodes, in the nearest folder that contains both files, to which the importing and the imported file
 * belong. So `adapters/broker/x.ts` importing `adapters/postgres/queries/y.ts` is an edge from `broker`
 * to `postgres` within `adapters`. A file may import from a subfolder beside it if nothing in that
 * subfolder leads back to the file. Imports of types count, tests do not.
 *
 * Scripts and benches import what was built. A file that was moved stays in `dist` until that is removed,
 * so each of their imports must have its source.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";

const root = "src";

/** Most imports that are printed for one edge of a cycle. */
const mostPrinted = 5;

const imports = readImports();
const cycle = findCycle();
if (cycle !== undefined) {
  process.stdout.write(`folders import each other in a cycle: ${cycle.join(" → ")}\n`);
  cycle.slice(1).forEach((to, index) => {
    const found = [...imports.get(cycle[index]).get(to)];
    for (const text of found.slice(0, mostPrinted)) process.stdout.write(`  ${text}\n`);
    const more = found.length - mostPrinted;
    if (more > 0) process.stdout.write(`  … and ${more} more from ${cycle[index]} to ${to}\n`);
  });
  process.exitCode = 1;
}
for (const text of importsWithoutSource()) {
  process.stdout.write(`${text}\n`);
  process.exitCode = 1;
}

/** Imports of `dist/….js` by scripts and benches that no `src/….ts` builds; bundles are built otherwise. */
function importsWithoutSource() {
  const files = ["scripts", "bench", "bench/harness", "bench/ours"].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".js"))
      .map((name) => `${folder}/${name}`),
  );
  return files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/dist\/(?!programs\/)([\w/-]+)\.js/g)]
      .filter(([, name]) => !existsSync(`src/${name}.ts`))
      .map(([built]) => `${file} imports ${built}, which no file of src builds`),
  );
}

/** By importing node, by imported node: each import as a text. Nodes are named by their path. */
function readImports() {
  const graph = new Map();
  for (const from of sourceFiles(root)) {
    for (const name of importedBy(from)) {
      if (!name.startsWith(".")) continue;
      const file = path.posix.join(path.posix.dirname(from), name);
      const [a, b] = nodesOf(from, file);
      const targets = graph.get(a) ?? new Map();
      graph.set(a, targets);
      const text = `${from} imports ${file}`;
      targets.set(b, (targets.get(b) ?? new Set()).add(text));
    }
  }
  return graph;
}

/** What a file imports or exports from elsewhere, as it is written there; types and later imports too. */
function importedBy(file) {
  const names = [];
  const add = ({ source }) => {
    if (typeof source?.value === "string") names.push(source.value);
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  }).visit(parseSync(file, readFileSync(file, "utf8")).program);
  return names;
}

function sourceFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourceFiles(name);
    return name.endsWith(".ts") && !name.endsWith(".test.ts") ? [name] : [];
  });
}

/** The two paths cut after the first part in which they differ. */
function nodesOf(from, to) {
  const [a, b] = [from.split("/"), to.split("/")];
  const length = a.findIndex((part, index) => part !== b[index]) + 1;
  return [a.slice(0, length).join("/"), b.slice(0, length).join("/")];
}

/** The shortest cycle with a folder in it, as nodes from the first to the first again. */
function findCycle() {
  const cycles = [...imports.keys()]
    .filter((node) => !node.endsWith(".ts"))
    .flatMap((start) => {
      const cameFrom = new Map();
      const open = [start];
      for (let node = open.shift(); node !== undefined; node = open.shift()) {
        for (const next of imports.get(node)?.keys() ?? []) {
          if (cameFrom.has(next)) continue;
          cameFrom.set(next, node);
          open.push(next);
        }
      }
      return cameFrom.has(start) ? [pathTo(start, cameFrom)] : [];
    });
  return cycles.sort((a, b) => a.length - b.length)[0];
}

function pathTo(start, cameFrom) {
  const nodes = [start];
  do nodes.unshift(cameFrom.get(nodes[0]));
  while (nodes[0] !== start);
  return nodes;
}
