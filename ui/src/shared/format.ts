export function number(value: number): string {
  return value.toLocaleString("en-US");
}

export function percent(fraction: number | null): string {
  if (fraction === null) return "–";
  const value = fraction * 100;
  return `${value >= 99.95 || value < 0.05 ? Math.round(value) : value.toFixed(1)} %`;
}

/** The last characters of an id, enough to distinguish two: an id of a job begins with its time. */
export function short(id: string): string {
  return id.length > 12 ? id.slice(-8) : id;
}

export function plural(count: number, word: string, words = `${word}s`): string {
  return `${number(count)} ${count === 1 ? word : words}`;
}
