/**
 * Escapes control characters as JSON does. Terminals act on U+0080 to U+009F as they do on escape
 * sequences: a text of others could rewrite the screen. JSON.stringify escapes only those below
 * U+0020.
 */

/** Leaves the characters below U+0020, which our own colours need; the result of JSON stays JSON. */
export function escapeUpperControls(text: string): string {
  return text.replaceAll(/[\u007f-\u009f]/g, escapeCharacter);
}

/** Leaves only tabs and line ends. */
export function escapeControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) =>
    character === "\n" || character === "\t" ? character : escapeCharacter(character),
  );
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
