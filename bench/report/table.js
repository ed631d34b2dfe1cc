/** The cells of the main table as text, for the terminal and for Markdown alike. */
export const heads = [
  "engine",
  "result",
  "lowest … highest",
  "ours is",
  "statements",
  "commits",
  "WAL B",
  "disk B",
  "CPU ms",
  "foreign",
];

export function cells(row, entry) {
  const name = nameOf(entry);
  if (entry.error) return [name, entry.error, ...Array(heads.length - 2).fill("")];
  const { unit } = row;
  const p95 = entry.p95 === undefined ? "" : `, p95 ${amount(entry.p95, unit)}`;
  return [
    name,
    `${amount(entry.value, unit)} ${unit}${p95}`,
    `${amount(entry.lowest, unit)} … ${amount(entry.highest, unit)}`,
    entry.peer === "ours" || entry.ratio === undefined ? "" : `${ratioText(entry.ratio)} ×`,
    number(entry.statements, 3),
    number(entry.commits, 4),
    number(entry.walBytes, 0),
    number(entry.diskBytes, 0),
    number(entry.cpuMs, 3),
    number(entry.foreign, 2),
  ];
}

export function nameOf({ label, note }) {
  return note ? `${label}, ${note}` : label;
}

export function titleOf({ id, size, title, unit, server }) {
  const count = id === "W1" || id === "W2" ? "" : `${size.toLocaleString("en-US")}: `;
  const better = unit === "tasks/s" ? "more is better" : "less is better";
  const where = server === undefined ? "" : ", on the older PostgreSQL";
  return `${id}, ${count}${title}${where} (${better})`;
}

export function number(value, digits) {
  if (value === undefined) return "";
  return value.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

export function amount(value, unit) {
  return number(value, unit === "tasks/s" ? 0 : 2);
}

export function ratioText(ratio) {
  return number(ratio, ratio >= 10 ? 0 : 2);
}
