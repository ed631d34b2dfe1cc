import { NotInStorage } from "./storage.ts";

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

export function asMissing(name: string) {
  return (error: unknown): never => {
    throw statusOf(error) === 404 ? new NotInStorage(name) : error;
  };
}
