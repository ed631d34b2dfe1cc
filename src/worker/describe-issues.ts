import type { z } from "zod";

const maxIssues = 10;

/** All that is wrong, each with its JSON pointer. */
export function describeIssues(error: z.ZodError): string {
  const texts = error.issues
    .slice(0, maxIssues)
    .map(({ path, message }) => `${pointer(path)}: ${message}`);
  const more = error.issues.length - texts.length;
  return texts.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

function pointer(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "the whole";
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
