import type { Json, JsonObject } from "../../../model/json.ts";
import type { Evaluate, Scope, Value } from "./scope.ts";
import { Failure, Missing, isList, typeName } from "./scope.ts";
import type { Compiler, MemberTree, Tree } from "./tree.ts";
import { splitName } from "./tree.ts";
import { didYouMean } from "../../suggest.ts";

/*
 * Compiles references such as `nodes.validate.output.size`. A member is an own key of an object or
 * an integer index of a list; nothing else can be reached: no prototype, no method, no length.
 */

type Key = string | number;

/** Every root that a reference may start with. */
export const contextRoots = ["inputs", "nodes", "upstream", "item", "index", "job", "env"] as const;

const constants = new Map<string, Json>([
  ["true", true],
  ["false", false],
  ["none", null],
  ["null", null],
  ["True", true],
  ["False", false],
  ["None", null],
]);

export function compilePath(
  tree: MemberTree | (Tree & { type: "Identifier" }),
  compiler: Compiler,
  depth: number,
  optional: boolean,
): Evaluate {
  const members: MemberTree[] = [];
  let base: Tree = tree;
  while (base.type === "MemberExpression") {
    members.push(base);
    base = base.object;
  }
  const keys = members
    .reverse()
    .map((member) => literalKey(member) ?? compiler.compile(member.property, depth + 1, optional));

  if (base.type !== "Identifier") {
    return follow("the value", compiler.compile(base, depth + 1, optional), keys);
  }
  const { name, offset } = splitName(base.value, compiler.offset);
  const constant = constants.get(name);
  if (constant !== undefined) {
    return keys.length === 0 ? () => constant : follow(name, () => constant, keys);
  }

  const path: Key[] = [];
  for (const key of keys) {
    if (typeof key === "function") break;
    path.push(key);
  }
  compiler.references.push({ root: name, path, offset, optional });
  if ((name === "nodes" || name === "env") && path.length === 0) {
    const example = name === "nodes" ? "nodes.a.output" : "env.NAME";
    compiler.problems.push({ message: `${name} needs a literal name: ${example}`, offset });
  }
  const part = name === "upstream" ? path[0] : path[1];
  if (
    (name === "nodes" || name === "upstream") &&
    part !== undefined &&
    part !== "output" &&
    part !== "status"
  ) {
    const message = `a node has output and status, not ${String(part)}`;
    compiler.problems.push({ message, offset });
  }
  if (name === "nodes") {
    const id = String(path[0]);
    return follow(printPath("nodes", [id]), (scope) => node(scope, id), keys.slice(1));
  }
  return follow(name, rootOf(name), keys);
}

function literalKey(member: MemberTree): Key | undefined {
  const { property } = member;
  if (property.type === "StringLiteral" || property.type === "IntegerLiteral")
    return property.value;
  if (property.type === "Identifier" && !member.computed) return splitName(property.value, 0).name;
  if (property.type === "UnaryExpression" && property.operator.value === "-") {
    if (property.argument.type === "IntegerLiteral") return -property.argument.value;
  }
  return undefined;
}

function rootOf(name: string): Evaluate {
  switch (name) {
    case "inputs":
      return (scope) => scope.context.inputs;
    case "job":
      return (scope) => scope.context.job;
    case "env":
      return (scope) => scope.context.env;
    case "upstream":
      return ({ context }) =>
        context.upstream?.() ??
        new Missing(() => "upstream: no node before this one has completed");
    case "item":
      return ({ context }) => (context.item === undefined ? outside("item") : context.item);
    case "index":
      return (scope) => scope.context.index ?? outside("index");
    default:
      return () => new Missing(() => `${name} is not known; known are ${contextRoots.join(", ")}`);
  }
}

function outside(name: string): Missing {
  return new Missing(() => `${name} exists only in the task of a fan_out`);
}

function node(scope: Scope, id: string): Value {
  return scope.context.node(id) ?? new Missing(() => `nodes has no '${id}' here`);
}

function follow(start: string, base: Evaluate, keys: readonly (Key | Evaluate)[]): Evaluate {
  return (scope) => {
    scope.spend(1 + keys.length);
    let value = base(scope);
    let position = 0;
    for (let key of keys) {
      if (value instanceof Missing) return value;
      if (typeof key === "function") {
        const computed = key(scope);
        if (computed instanceof Missing) return computed;
        if (typeof computed !== "string" && typeof computed !== "number") {
          throw new Failure(`${typeName(computed)} cannot name a member; use a string or a number`);
        }
        key = computed;
      }
      const found = member(value, key);
      if (found === undefined) return missing(start, keys.slice(0, position), value, key);
      value = found;
      position += 1;
    }
    return value;
  };
}

function member(value: Json, key: Key): Json | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isList(value)) {
    if (typeof key !== "number" || !Number.isInteger(key)) return undefined;
    return value[key < 0 ? key + value.length : key];
  }
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function missing(
  start: string,
  before: readonly (Key | Evaluate)[],
  value: Json,
  key: Key,
): Missing {
  return new Missing(() => {
    const path = printPath(start, before);
    if (typeof value !== "object" || value === null) {
      return `${path} is ${typeName(value)} and has no ${quote(key)}`;
    }
    if (isList(value)) return `${path} has no ${quote(key)}; it is a list of ${value.length}`;
    if (start.startsWith("nodes") && before.length === 0 && key === "output") {
      const { status } = value;
      return status === "skipped"
        ? `${path} was skipped and has no output; allow for that with default(…)`
        : `${path} is ${typeof status === "string" ? status : "pending"} and has no output yet`;
    }
    return `${path} has no ${quote(key)}; ${describeKeys(value, String(key))}`;
  });
}

const shownKeys = 12;

function describeKeys(value: JsonObject, wanted: string): string {
  const keys = Object.keys(value);
  if (keys.length === 0) return "it is empty";
  const shown = keys.slice(0, shownKeys).map(shorten).join(", ");
  const rest = keys.length > shownKeys ? `, and ${keys.length - shownKeys} more` : "";
  return `it has: ${shown}${rest}${didYouMean(wanted, keys)}`;
}

function printPath(start: string, keys: readonly (Key | Evaluate)[]): string {
  const parts = keys.map((key) => {
    if (typeof key === "function") return "[…]";
    if (typeof key === "number") return `[${key}]`;
    return /^[A-Za-z_]\w*$/.test(key) ? `.${shorten(key)}` : `[${JSON.stringify(shorten(key))}]`;
  });
  return start + parts.join("");
}

function quote(key: Key): string {
  return typeof key === "number" ? `index ${key}` : `'${shorten(key)}'`;
}

function shorten(key: string): string {
  return key.length > 64 ? `${key.slice(0, 63)}…` : key;
}
