import type { ProblemItem } from "../../core/errors.ts";

/** Deeper than any sensible request; what walks a value by recursion later must survive it. */
const deepest = 100;
const mostItems = 20;

/**
 * What JSON may hold and PostgreSQL or we may not: NUL characters and halves of surrogate pairs,
 * which text and jsonb refuse, and `__proto__` as a key, which a careless copy would turn into a
 * prototype. Refused here, they are a mistake of the request; later they would be an error of ours.
 */
export function checkText(value: unknown, pointer = ""): ProblemItem[] {
  const items: ProblemItem[] = [];
  const open: { value: unknown; pointer: string; depth: number }[] = [{ value, pointer, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (items.length >= mostItems) break;
    const here = next;
    if (typeof here.value === "string") {
      const wrong = wrongText(here.value);
      if (wrong !== undefined) items.push({ pointer: here.pointer, code: "TEXT", message: wrong });
      continue;
    }
    if (typeof here.value !== "object" || here.value === null) continue;
    if (here.depth >= deepest) {
      const message = `is nested more than ${deepest} levels deep`;
      items.push({ pointer: here.pointer, code: "DEPTH", message });
      continue;
    }
    for (const [key, each] of Object.entries(here.value).reverse()) {
      const at = `${here.pointer}/${escapePointer(key)}`;
      const wrong = key === "__proto__" ? "is not allowed as a key" : wrongText(key);
      if (wrong !== undefined) items.push({ pointer: at, code: "KEY", message: wrong });
      open.push({ value: each, pointer: at, depth: here.depth + 1 });
    }
  }
  return items;
}

export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function wrongText(text: string): string | undefined {
  if (text.includes("\0")) return "holds a NUL character";
  return isWellFormed(text) ? undefined : "holds half of a surrogate pair";
}

/** `String.prototype.isWellFormed` is in every supported Node, but not in the ES2023 library. */
function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}
