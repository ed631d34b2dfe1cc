import type { Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import { deepestTree } from "../../core/dag/source/check-tree.ts";
import type { Finding, FindingCode } from "../../core/dag/finding.ts";
import { errorAt } from "../../core/dag/finding.ts";
import type { Positions, Spot } from "./positions.ts";

/**
 * The number of values that aliases may add: nine lines of YAML can otherwise expand to a billion.
 */
const mostAliased = 100_000;

const coreTags = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((tag) => `tag:yaml.org,2002:${tag}`),
);

interface Built {
  readonly value: unknown;
  /** The number of values in the tree, including itself, with every alias counted in full. */
  readonly size: number;
}

/** Stops the build after a finding behind which the tree cannot be read. */
class Refused extends Error {}

/**
 * Builds the plain tree of a document. The library's `toJS` is not used, because each refusal
 * (duplicate keys, keys that are not text, tags, merge keys, runaway aliases) needs its line, and
 * because the library compares each key of a mapping with all others: 50,000 nodes would take
 * minutes.
 */
export function buildTree(
  contents: Node | null,
  positions: Positions,
  findings: Finding[],
): unknown {
  const anchors = new Map<string, Built | undefined>();
  let aliased = 0;

  function report(code: FindingCode, node: Node, message: string): void {
    findings.push(positions.at(startOf(node), errorAt(code, [], message)));
  }

  function refuse(code: FindingCode, node: Node, message: string): never {
    report(code, node, message);
    throw new Refused();
  }

  function build(node: Node | null, depth: number): Built {
    if (node === null) return { value: null, size: 1 };
    if (isAlias(node)) return resolve(node.source, node);
    const { anchor, tag } = node as { anchor?: string; tag?: string };
    if (tag !== undefined && !coreTags.has(tag)) {
      report("YAML_UNSUPPORTED", node, `the tag ${tag} is not supported: write a plain value`);
    }
    if (anchor !== undefined) anchors.set(anchor, undefined);
    const built = content(node, depth);
    if (anchor !== undefined) anchors.set(anchor, built);
    return built;
  }

  function resolve(name: string, node: Node): Built {
    if (!anchors.has(name)) refuse("YAML_SYNTAX", node, `there is no anchor &${name} before this`);
    const built = anchors.get(name);
    if (built === undefined) {
      return refuse("YAML_UNSUPPORTED", node, `*${name} stands inside what it stands for`);
    }
    aliased += built.size;
    if (aliased > mostAliased) {
      refuse("YAML_ALIAS_LIMIT", node, `aliases stand for more than ${mostAliased} values`);
    }
    return built;
  }

  function content(node: Node, depth: number): Built {
    if (isScalar(node)) return { value: scalar(node), size: 1 };
    if (depth > deepestTree) {
      refuse("TOO_DEEP", node, `nested more than ${deepestTree} levels deep`);
    }
    if (isMap(node)) return mapping(node as YAMLMap<Node, Node | null>, depth);
    if (isSeq(node)) return list(node as YAMLSeq<Node>, depth);
    return refuse("YAML_UNSUPPORTED", node, "this is neither a mapping, a list nor a value");
  }

  function scalar(node: Scalar): unknown {
    const { value, source } = node;
    if (typeof value === "number" && /^[-+]?\d+$/.test(source ?? "")) {
      if (!Number.isSafeInteger(value)) {
        report("WRONG_VALUE", node, `${source ?? ""} is too large to be exact: quote it`);
      }
    }
    return value;
  }

  function mapping(node: YAMLMap<Node, Node | null>, depth: number): Built {
    const entries: [string, unknown, Spot][] = [];
    const seen = new Set<string>();
    let size = 1;
    for (const pair of node.items) {
      const key = keyOf(pair);
      const built = build(pair.value, depth + 1);
      size += built.size;
      if (key === undefined) continue;
      if (seen.has(key)) {
        report("YAML_DUPLICATE_KEY", pair.key, `"${key}" is already in this mapping`);
        continue;
      }
      seen.add(key);
      entries.push([key, built.value, spotOf(pair.value, startOf(pair.key))]);
    }
    // fromEntries defines its keys, so that `__proto__` is a key like any other.
    const value = Object.fromEntries(entries.map(([key, each]) => [key, each]));
    for (const [key, , spot] of entries) positions.place(value, key, spot);
    return { value, size };
  }

  function keyOf({ key }: Pair<Node, Node | null>): string | undefined {
    if (isScalar(key) && typeof key.value === "string") {
      if (key.value === "<<" && key.type === "PLAIN") {
        report("YAML_UNSUPPORTED", key, "merge keys are not supported: write the keys out");
        return undefined;
      }
      return key.value;
    }
    const hint =
      isScalar(key) && key.source !== undefined
        ? `: write "${key.source}" in quotes`
        : // A mapping as the key of a mapping is what `{{ x }}` without quotes means in YAML.
          isMap(key)
          ? ': write a template in quotes, "{{ … }}"'
          : "";
    report("YAML_UNSUPPORTED", key, `a key must be text${hint}`);
    return undefined;
  }

  function list(node: YAMLSeq<Node>, depth: number): Built {
    const value: unknown[] = [];
    let size = 1;
    for (const [index, item] of node.items.entries()) {
      const built = build(item, depth + 1);
      size += built.size;
      value.push(built.value);
      positions.place(value, index, spotOf(item, startOf(item)));
    }
    return { value, size };
  }

  try {
    return build(contents, 0).value;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function spotOf(node: Node | null, key: number): Spot {
  // `name:` without a value has only the key to point at.
  if (node === null || (isScalar(node) && node.value === null && node.source === "")) {
    return { key, value: key };
  }
  const value = startOf(node);
  if (!isScalar(node)) return { key, value };
  if (node.type === "PLAIN") return { key, value, content: value };
  const quoted = node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE";
  return quoted ? { key, value, content: value + 1 } : { key, value };
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}
