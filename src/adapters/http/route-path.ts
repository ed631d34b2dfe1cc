/** A contract's path as the router writes it: `{id}` is `:id`, and `{path*}` takes the rest. */
import type { Contract } from "../../core/api/contract.ts";

const rest = /\{(\w+)\*\}$/;

export function toRoute(path: string): string {
  return path.replace(rest, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}

/** What `{path*}` took, under its name. */
export function namedRest(contract: Contract, params: unknown): unknown {
  const name = rest.exec(contract.path)?.[1];
  if (name === undefined) return params;
  const { "*": taken, ...others } = params as Record<string, string>;
  return { ...others, [name]: taken };
}
