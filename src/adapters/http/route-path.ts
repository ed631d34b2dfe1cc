import type { Contract } from "../../core/api/contract.ts";

const rest = /\{(\w+)\*\}$/;

/** A contract's path in the router's syntax: `{id}` becomes `:id`, and a last `{path*}` becomes `*`. */
export function toRoute(path: string): string {
  return path.replace(rest, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Renames the parameter `*` of the router to the name in `{path*}`. */
export function nameRest(contract: Contract, params: unknown): unknown {
  const name = rest.exec(contract.path)?.[1];
  if (name === undefined) return params;
  const { "*": taken, ...others } = params as Record<string, string>;
  return { ...others, [name]: taken };
}

/**
 * Finds the methods that a path has, for a request that no route answers. Routes that refuse would
 * do the same, but five for each path took a third of the time in which a server sets up its routes.
 */
export function allowedMethods(
  contracts: readonly Contract[],
): (path: string) => string | undefined {
  const known = new Map<string, Set<string>>();
  for (const { path, method } of contracts) {
    known.set(path, (known.get(path) ?? new Set<string>()).add(method));
  }
  const patterns = [...known].map(([path, methods]) => ({
    pattern: toPattern(path),
    allow: [...methods].join(", "),
  }));
  return (path) => patterns.find(({ pattern }) => pattern.test(path))?.allow;
}

function toPattern(path: string): RegExp {
  const text = path
    .replaceAll(/[.+?^$()|[\]\\]/g, "\\$&")
    .replaceAll(/\{\w+\*\}/g, ".*")
    .replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${text}$`);
}

const secret = /^(?:token|access_token|sig|signature|code|key|password)$/i;

/** Hides secrets in the query of a URL for the log: login links and signed URLs carry them. */
export function redactUrl(url: string): string {
  const at = url.indexOf("?");
  if (at < 0) return url;
  const pairs = url.slice(at + 1).split("&");
  const shown = pairs.map((pair) => {
    const name = pair.split("=", 1)[0] ?? "";
    return secret.test(name) ? `${name}=[redacted]` : pair;
  });
  return `${url.slice(0, at)}?${shown.join("&")}`;
}
