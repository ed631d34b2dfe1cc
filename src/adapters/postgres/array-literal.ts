/**
 * Writes arrays as PostgreSQL's array literals. The driver does this too, but escapes every element
 * twice and quotes each: for batches of a thousand rows it took a fifth of an orchestrator's time.
 */
const needsNoQuotes = /^[\w.:+-]+$/;

/** Answers undefined for an array with dates, buffers, objects or arrays: the driver converts it. */
export function arrayLiteral(list: readonly unknown[]): string | undefined {
  let text = "{";
  let last: unknown;
  let element: string | undefined;
  for (let index = 0; index < list.length; index++) {
    const value = list[index];
    // Rows of one job or one worker share most values: the literal of a neighbour is used again.
    if (index === 0 || value !== last) element = elementLiteral(value);
    if (element === undefined) return undefined;
    last = value;
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
        : quoted(element);
    case "number":
    case "boolean":
      return String(element);
    case "undefined":
      return "NULL";
    default:
      return element === null ? "NULL" : undefined;
  }
}

const printable = /^[\x20-\x7e]*$/;

/**
 * Quotes and backslashes are escaped as in JSON, which has a faster writer: with it, and because its text
 * is flat, an array of messages takes half of the time. Other characters JSON would escape in its own way.
 */
function quoted(text: string): string {
  if (printable.test(text)) return JSON.stringify(text);
  const doubled = text.includes("\\") ? text.replaceAll("\\", "\\\\") : text;
  return `"${doubled.replaceAll('"', '\\"')}"`;
}
