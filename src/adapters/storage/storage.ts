/** The port. Paths are `zone/…`, always with forward slashes, and never leave their zone. */
export interface Storage {
  /** Whoever reads sees the whole or nothing; what was there is replaced. */
  put(path: string, bytes: Uint8Array): Promise<void>;
  /** Rejects with `NotInStorage` when there is none. */
  get(path: string): Promise<Uint8Array>;
  head(path: string): Promise<StoredObject | undefined>;
}

export interface StoredObject {
  readonly path: string;
  readonly bytes: number;
}

export const zones = ["results"] as const;

export class NotInStorage extends Error {
  constructor(path: string) {
    super(`There is nothing at "${path}" in storage.`);
    this.name = "NotInStorage";
  }
}

/** What no store may be asked for; the reason is for whoever wrote the path. */
export class BadStoragePath extends Error {
  constructor(path: string, reason: string) {
    super(`"${path}" is not a path in storage: ${reason}.`);
    this.name = "BadStoragePath";
  }
}

/** The path's parts, or a refusal: a path is data that came from outside. */
export function splitPath(path: string): readonly string[] {
  const parts = path.split("/");
  const refuse = (reason: string): never => {
    throw new BadStoragePath(path, reason);
  };
  if (path.startsWith("/")) refuse("it must not be absolute");
  if (path.length > 1024) refuse("it is longer than 1024 characters");
  // eslint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\\]/.test(path)) refuse("it contains a control character or a backslash");
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    refuse('its parts must not be empty, "." or ".."');
  }
  if (!zones.some((zone) => zone === parts[0]) || parts.length < 2) {
    refuse(`it must start with a zone: ${zones.map((zone) => `${zone}/`).join(", ")}`);
  }
  return parts;
}
