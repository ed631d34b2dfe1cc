/**
 * The files of deploy/ agree with each other and with the programs. `npm run test:deployment` checks them
 * with the schemas of Compose and Kubernetes, and `npm run test:images` runs the images.
 */
import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const root = path.resolve(import.meta.dirname, "../..");
const read = (name: string) => readFile(path.join(root, name), "utf8");

interface Service {
  readonly image: string;
  readonly build?: { readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly profiles?: readonly string[];
  readonly deploy?: { readonly replicas: number };
}

const readCompose = async () =>
  parse(await read("deploy/compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };

/** Every variable that the documentation explains. */
async function documented(): Promise<ReadonlySet<string>> {
  const pages = (await readdir(path.join(root, "docs"))).filter((name) => name.endsWith(".md"));
  const texts = await Promise.all(["README.md", ...pages.map((name) => `docs/${name}`)].map(read));
  return new Set(texts.join("\n").match(/\b[A-Z][A-Z0-9_]{3,}\b/g));
}

it("compose has the parts of a platform, each from its own file", async () => {
  const { services } = await readCompose();
  expect(Object.keys(services).sort()).toEqual([
    "gateway",
    "migrate",
    "orchestrator",
    "postgres",
    "rabbitmq",
    "roles",
    "worker-heavy",
    "worker-light",
  ]);
  expect(services["orchestrator"]?.deploy?.replicas).toBe(2);
  // It runs only where it is wanted.
  expect(services["rabbitmq"]?.profiles).toEqual(["rabbitmq"]);
  for (const { build } of Object.values(services)) {
    if (build !== undefined) expect(existsSync(path.join(root, build.dockerfile))).toBe(true);
  }
});

it("compose asks for nothing that .env.example does not list", async () => {
  const text = await read("deploy/compose.yaml");
  const asked = new Set([...text.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name));
  const example = await read("deploy/.env.example");
  const listed = new Set([...example.matchAll(/^(\w+)=/gm)].map(([, name]) => name));
  expect(asked.size).toBeGreaterThan(8);
  expect([...asked].filter((name) => !listed.has(name))).toEqual([]);
});

it("compose, Kubernetes and Azure set only variables that the documentation explains", async () => {
  const { services } = await readCompose();
  const ours = Object.values(services).filter(({ image }) => image.startsWith("rmhdag"));
  const named = new Set(ours.flatMap(({ environment }) => Object.keys(environment ?? {})));

  const folder = path.join(root, "deploy/kubernetes");
  for (const file of await readdir(folder)) {
    for (const document of parseAllDocuments(await readFile(path.join(folder, file), "utf8"))) {
      const { kind, data } = document.toJS() as { kind: string; data?: Record<string, string> };
      if (kind === "ConfigMap") for (const name of Object.keys(data ?? {})) named.add(name);
      for (const [, name = ""] of document.toString().matchAll(/name: ([A-Z][A-Z0-9_]+)/g)) {
        named.add(name);
      }
    }
  }
  for (const file of ["main.bicep", "web-app.bicep"]) {
    const text = await read(`deploy/azure/${file}`);
    for (const [, name = ""] of text.matchAll(/name: '([A-Z][A-Z0-9_]+)'/g)) named.add(name);
    for (const [, name = ""] of text.matchAll(/^\s+([A-Z][A-Z0-9_]+): /gm)) named.add(name);
  }
  expect(named.size).toBeGreaterThan(15);
  const known = await documented();
  // Azure's own, not ours.
  named.delete("WEBSITES_PORT");
  expect([...named].filter((name) => !known.has(name)).sort()).toEqual([]);
});
