import { z } from "zod";

/** `submit`: hand in data. `read`: see one's own. `curate`: approve. `admin`: all of these, and keys. */
export const keyScope = z.enum(["submit", "read", "curate", "admin"]);
export type KeyScope = z.infer<typeof keyScope>;

export const keyId = z.string().regex(/^[0-9a-f]{12}$/, "must be 12 hex digits");

/** `rmhk_<key_id>_<secret>`: the middle names the key in lists and logs, the end is kept nowhere. */
export const apiKeyPattern = /^rmhk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;
