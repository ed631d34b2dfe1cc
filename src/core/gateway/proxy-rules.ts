/**
 * Decides which requests the proxy forwards: a method and path that a rule names, and nothing else.
 * A rule is `GET /api/v1/jobs/*`, where `*` stands for one segment and `**` at the end for all the
 * rest.
 */
export interface ProxyRule {
  readonly method: string;
  readonly segments: readonly string[];
  readonly takesRest: boolean;
}

const rulePattern = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/;

export function parseProxyRule(text: string): ProxyRule | undefined {
  const [, method, path] = rulePattern.exec(text.trim()) ?? [];
  if (method === undefined || path === undefined) return undefined;
  const segments = path.slice(1).split("/");
  const takesRest = segments.at(-1) === "**";
  const named = takesRest ? segments.slice(0, -1) : segments;
  const isPlain = named.every((segment) => segment === "*" || safeSegment.test(segment));
  return isPlain ? { method, segments: named, takesRest } : undefined;
}

/**
 * A segment without anything that another server could read as a step upwards, a query, or a second
 * path.
 */
const safeSegment = /^(?!\.{1,2}$)[\w.~:@,=+-]+$/;

/** Returns the path to request, rebuilt from its segments; undefined if no rule allows it. */
export function allowedPath(
  rules: readonly ProxyRule[],
  method: string,
  path: string,
): string | undefined {
  const segments = path.split("/");
  if (!segments.every((segment) => safeSegment.test(segment))) return undefined;
  const isAllowed = rules.some((rule) => rule.method === method && covers(rule, segments));
  return isAllowed ? `/${segments.map(encodeURIComponent).join("/")}` : undefined;
}

function covers(rule: ProxyRule, segments: readonly string[]): boolean {
  const { segments: named, takesRest } = rule;
  if (takesRest ? segments.length <= named.length : segments.length !== named.length) return false;
  return named.every((segment, index) => segment === "*" || segment === segments[index]);
}
