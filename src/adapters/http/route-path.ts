import type { Contract } from "../../core/api/contract.ts";

const rest = /\{(\w+)\*\}$/;

/** A contract's path in the router's syntax: `{id}` becomes `:id`, and a last `{path*}` becomes `*`. */
export function toRoute(path: string): string {
  return path.replace(rest, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}

/** The name in a last `{path*}`; undefined: the path has none. */
export function restOf(path: string): string | undefined {
  return rest.exec(path)?.[1];
}

/** Renames the parameter `*` of the router to the name that `restOf` gives. */
export function nameRest(name: string | undefined, params: unknown): unknown {
  if (name === undefined) return params;
  const { "*": taken, ...others } = params as Record<string, string>;
  return { ...others, [name]: taken };
}

export interface Resource {
  /** Matches the addresses of the resource. */
  readonly pattern: RegExp;
  /** The methods as a header `Allow` has them. */
  readonly allow: string;
  /** Other headers of the answer to OPTIONS. */
  readonly options: Readonly<Record<string, string>>;
}

export interface Resources {
  /** The resource at a path: a path without parameters comes before one with them. */
  at(path: string): Resource | undefined;
  /** Resources that lie inside of a route's pattern, as `/jobs/batch` does in `/jobs/{job_id}`. */
  within(route: string): readonly Resource[];
}

/**
 * Lists the paths of contracts with their methods. Routes that refuse other methods would do the
 * same, but five for each path took a third of the time in which a server sets up its routes.
 */
export function listResources(contracts: readonly Contract[]): Resources {
  const known = new Map<string, Set<string>>();
  for (const { path, method, stream } of contracts) {
    const methods = known.get(path) ?? new Set<string>();
    known.set(path, methods.add(method));
    if (method === "GET" && stream === undefined) methods.add("HEAD");
  }
  const resources = [...known].map(([path, methods]) => ({
    path,
    pattern: toPattern(path),
    allow: [...methods, "OPTIONS"].join(", "),
    options:
      contracts.find((each) => each.path === path && each.optionsHeaders)?.optionsHeaders ?? {},
    parameters: path.split("{").length - 1 + (rest.test(path) ? 10 : 0),
  }));
  resources.sort((a, b) => a.parameters - b.parameters);
  const inside = new Map(
    resources.map(({ path, pattern, parameters }) => [
      toRoute(path),
      resources.filter(
        (each) =>
          each.parameters < parameters && pattern.test(each.path.replaceAll(/\{\w+\*?\}/g, "x")),
      ),
    ]),
  );
  return {
    at: (path) => resources.find(({ pattern }) => pattern.test(path)),
    within: (route) => inside.get(route) ?? [],
  };
}

function toPattern(path: string): RegExp {
  const text = path
    .replaceAll(/[.+?^$()|[\]\\]/g, "\\$&")
    .replaceAll(/\{\w+\*\}/g, ".*")
    .replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${text}$`);
}
