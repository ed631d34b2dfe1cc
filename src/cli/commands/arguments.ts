import { InvalidArgumentError, Option } from "commander";

/** Parses an option's value; commander prints the message behind the option's name. */
export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
  };
}

/** How many rows at most; every listing has it. */
export function limitOption(fallback = 50): Option {
  return new Option("--limit <n>", "how many at most")
    .default(fallback)
    .argParser(wholeNumber(1, 100_000));
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON for other programs");
}
