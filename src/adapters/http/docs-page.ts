import { createHash } from "node:crypto";
import type { Contract } from "../../core/api/contract.ts";
import { errorCatalogue } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import { Answer } from "./handler.ts";

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; background: #fff }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dbe3 }
code, pre { font: 14px/1.45 ui-monospace, monospace } pre { background: #f4f6f9; padding: .75rem; overflow-x: auto }
details { border: 1px solid #d5dbe3; border-radius: 6px; margin: .5rem 0; padding: .4rem .75rem }
summary { cursor: pointer } .method { display: inline-block; width: 3.5rem; font-weight: 600 }
.access { float: right; color: #5b6675 } table { border-collapse: collapse } td, th { text-align: left; padding: .2rem 1rem .2rem 0 }
@media (prefers-color-scheme: dark) { body { color: #dfe5ee; background: #14181f } pre { background: #1d232d } h2, details { border-color: #384252 } a { color: #8ab4ff } .access { color: #9aa6b8 } }
`;

const styleHash = createHash("sha256").update(style).digest("base64");

/** The API document as a page. Its policy allows no script, because it needs none. */
export function docsPage(
  contracts: readonly Contract[],
  document: JsonObject,
  documentUrl = "/api/v1/openapi.json",
): Answer {
  const schemas = (document["components"] as { schemas: JsonObject }).schemas;
  const groups = new Map<string, Contract[]>();
  for (const each of contracts) groups.set(tagOf(each), [...(groups.get(tagOf(each)) ?? []), each]);
  const body = [...groups].map(
    ([tag, members]) =>
      `<h2>${escapeHtml(tag)}</h2>\n${members.map((each) => operation(each, document)).join("\n")}`,
  );
  const errors = Object.entries(errorCatalogue).map(
    ([code, { status, title, retry }]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${escapeHtml(title)}</td><td>${retry ? "may help" : ""}</td></tr>`,
  );
  const named = Object.entries(schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escapeHtml(name)}"><summary>${escapeHtml(name)}</summary>${code(schema)}</details>`,
  );
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>rmhdagmaster API</title>
<meta name="viewport" content="width=device-width"><style>${style}</style></head><body>
<h1>rmhdagmaster API</h1>
<p>The same as a document for machines: <a href="${documentUrl}">openapi.json</a>.
Send a token as <code>Authorization: Bearer …</code>. Lists answer <code>items</code> and
<code>next_cursor</code>; send that as <code>?cursor=</code> for the next page.</p>
${body.join("\n")}
<h2>Errors</h2>
<p>Every refusal is <code>application/problem+json</code> with one of these codes.</p>
<table><tr><th>code</th><th>status</th><th>meaning</th><th>trying again</th></tr>
${errors.join("\n")}
</table>
<h2>Schemas</h2>
${named.join("\n")}
</body></html>
`;
  return new Answer(html, {
    headers: {
      "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'`,
    },
  });
}

function operation(contract: Contract, document: JsonObject): string {
  const paths = document["paths"] as Record<string, Record<string, JsonObject>>;
  const made = paths[contract.path.replace("*}", "}")]?.[contract.method.toLowerCase()] ?? {};
  const shown = ["parameters", "requestBody", "responses"].filter((key) =>
    Object.hasOwn(made, key),
  );
  const parts = shown.map((key) => `<h4>${key}</h4>${code(made[key])}`);
  return `<details id="${contract.id}"><summary><span class="access">${contract.access}</span>
<code><span class="method">${contract.method}</span>${escapeHtml(contract.path)}</code><br>${escapeHtml(contract.summary)}</summary>
${parts.join("\n")}</details>`;
}

function code(value: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre>`;
}

function tagOf({ path }: Contract): string {
  return /^\/(?:api\/v1\/|ws\/)?([\w-]+)/.exec(path)?.[1] ?? "other";
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
