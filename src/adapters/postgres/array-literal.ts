/**
 * Writes arrays as PostgreSQL's array literals. The driver does this too, but escapes every element
 * twice and quotes each: for batches of a thousand rows it took a fifth of an orchestrator's time.
 */
const needsNoQuotes = /^[\w.:+-]+$/;

/** Answers undefined for an array with dates, buffers, objects or arrays: the driver converts it. */
export function arrayLiteral(list: readonly unknown[]): string | undefined {
  let text = "{";
  for (let index = 0; index < list.length; index++) {
    const element = elementLiteral(list[index]);
    if (element === undefined) return undefined;
    text += index === 0 ? element : `,${element}`;
  }
  return `${text}}`;
}

function elementLiteral(element: unknown): string | undefined {
  switch (typeof element) {
    case "string":
      // PostgreSQL reads an unquoted NULL, in upper or lower case, as no value.
      return needsNoQuotes.test(element) &&
        (element.length !== 4 || element.toUpperCase() !== "NULL")
        ? element
        : `"${escaped(element)}"`;
    case "number":
    case "boolean":
      return String(element);
    case "undefined":
      return "NULL";
    default:
      return element === null ? "NULL" : undefined;
  }
}

/** Replaces strings and not a pattern: JSON is full of quotes, and this takes half as long. */
function escaped(text: string): string {
  const doubled = text.includes("\\") ? text.replaceAll("\\", "\\\\") : text;
  return doubled.replaceAll('"', '\\"');
}
