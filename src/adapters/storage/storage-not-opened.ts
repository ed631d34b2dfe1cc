import { statusOf } from "./s3-errors.ts";

/** A program cannot start because a zone's storage does not answer, or refuses its credentials. */
export class StorageNotOpened extends Error {
  override readonly name = "StorageNotOpened";

  constructor(place: string, cause: unknown) {
    super(
      `Storage cannot be used: ${place}: ${reasonOf(cause)} Start it, or correct its variables (docs/storage.md).`,
      { cause },
    );
  }
}

/**
 * In one line that ends with a full stop. A refused connection to two addresses has a code alone, and an answer
 * to a question for a bucket has no text: its status tells most.
 */
function reasonOf(error: unknown): string {
  const { message = "", code = String(error) } = error as { message?: string; code?: string };
  const [line = ""] = message.trim().split("\n");
  const status = statusOf(error);
  const text =
    status === undefined ? (line === "" ? code : line) : `HTTP status ${status}, ${line}`;
  return text.endsWith(".") ? text : `${text}.`;
}
