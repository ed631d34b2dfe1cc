/** As GDAL writes dates: `2024/01/31`, `2024/01/31 23:59:59.5+02`, `2024-01-31`. */
const written = /^(-?\d{1,6})[/-](\d{1,2})[/-](\d{1,2})(?:[ T]|$)/;

/** Whether PostgreSQL and our clients can hold this date. */
export function isUsableDate(text: string): boolean {
  const match = written.exec(text);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return false;
  return day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
