/**
 * Lists as PostgreSQL reads them. The driver can do this too, but escapes every element twice and
 * keeps each in quotes: for batches of a thousand rows it took a fifth of an orchestrator's time.
 */
const plain = /^[\w.:+-]+$/;

/** Undefined when there is something in it that is better left to the driver. */
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
      // An unquoted NULL, in any case, would be no string.
      return plain.test(element) && (element.length !== 4 || element.toUpperCase() !== "NULL")
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

/** By strings and not by a pattern: JSON is full of quotes, and this takes half as long. */
function escaped(text: string): string {
  const whole = text.includes("\\") ? text.replaceAll("\\", "\\\\") : text;
  return whole.replaceAll('"', '\\"');
}
