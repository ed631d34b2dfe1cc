/**
 * Spells the hours of a spreadsheet's formats with two letters. GDAL takes a cell for a moment only where its
 * format has `hh`; with `yyyy-mm-dd h:mm`, which Excel and openpyxl write, it drops the time without a word.
 */
export function spellHours(styles: string): string {
  return styles.replaceAll(
    /(\sformatCode\s*=\s*)("[^"]*"|'[^']*')/g,
    (_, name: string, code: string) =>
      `${name}${code.slice(0, 1)}${spell(code.slice(1, -1))}${code.slice(-1)}`,
  );
}

/** Texts in quotes, escaped letters and parts in brackets, such as `[h]` of a duration, are no hours. */
const parts = /&quot;.*?&quot;|"[^"]*"|\\.|\[[^\]]*\]|h+/gi;

function spell(code: string): string {
  return code.replaceAll(parts, (part) => (/^h$/i.test(part) ? part + part : part));
}
