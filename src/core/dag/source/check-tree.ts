import type { Finding, TreePath } from "../finding.ts";
import { errorAt } from "../finding.ts";

export const deepestTree = 64;
/** A 50,000-node chain holds about 300,000 values. */
export const largestTree = 1_000_000;

/**
 * Text that JSON can write and PostgreSQL's jsonb refuses. It is refused here and not only when a
 * job is stored.
 */
const unstorable = /\0|\p{Surrogate}/u;

interface Place {
  readonly value: unknown;
  readonly parent: Place | undefined;
  readonly key: string | number;
  readonly depth: number;
}

/**
 * Checks that the tree is JSON, finite and not deep, so that the code behind this check may walk it
 * recursively. The check itself is iterative, because the trees that it refuses would overflow a
 * stack.
 */
export function checkTree(tree: unknown): Finding[] {
  const findings: Finding[] = [];
  const open: Place[] = [{ value: tree, parent: undefined, key: "", depth: 0 }];
  let count = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (++count > largestTree) {
      return [errorAt("TOO_LARGE", [], `a workflow may hold at most ${largestTree} values`)];
    }
    const { value, depth } = place;
    if (value === null || typeof value === "boolean") continue;
    if (typeof value === "string") {
      if (unstorable.test(value)) findings.push(notStorable(place));
      continue;
    }
    if (typeof value === "number") {
      if (!Number.isFinite(value)) findings.push(notJson(place, String(value)));
      continue;
    }
    if (typeof value !== "object") {
      findings.push(notJson(place, typeof value));
      continue;
    }
    if (depth > deepestTree) {
      return [errorAt("TOO_DEEP", pathOf(place), `nested more than ${deepestTree} levels deep`)];
    }
    if (Array.isArray(value)) {
      // `entries` and not `forEach`, which skips the holes of an array: a hole is not JSON either.
      for (const [index, item] of (value as unknown[]).entries()) {
        open.push({ value: item, parent: place, key: index, depth: depth + 1 });
      }
      continue;
    }
    if (!isPlain(value)) {
      findings.push(notJson(place, Object.prototype.toString.call(value).slice(8, -1)));
      continue;
    }
    for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
      const child = { value: item, parent: place, key, depth: depth + 1 };
      if (key === "__proto__") {
        const message = "a key must not be __proto__";
        findings.push(errorAt("WRONG_VALUE", pathOf(child), message, { at: "key" }));
      } else if (unstorable.test(key)) findings.push({ ...notStorable(child), at: "key" });
      else open.push(child);
    }
  }
  return findings;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function notStorable(place: Place): Finding {
  const message = "text must not hold NUL or half a surrogate pair: it could not be stored";
  return errorAt("WRONG_VALUE", pathOf(place), message);
}

function notJson(place: Place, what: string): Finding {
  return errorAt("WRONG_TYPE", pathOf(place), `${what} is not a value that a workflow can hold`);
}

function pathOf(place: Place): TreePath {
  const path: (string | number)[] = [];
  for (let at = place; at.parent !== undefined; at = at.parent) path.push(at.key);
  return path.reverse();
}
