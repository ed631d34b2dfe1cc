import { z } from "zod";

export const platformId = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,62}$/, "must hold lower-case letters, digits, _ or -");

const refName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, "must be a plain name such as dataset_id");

/** A host that callbacks may go to: `hooks.example.org`, with a port, or `*.example.org`. */
export const callbackHost = z
  .string()
  .max(255)
  .regex(
    /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/,
    "must be a host such as hooks.example.org, *.example.org or example.org:8443",
  );

export const callbackUrl = z.url({ protocol: /^https?$/ }).max(512);

/**
 * A place and everything below it: `bronze/ddh`, `https://data.example.org/ddh`, a folder of a
 * mount.
 */
const sourcePrefix = z
  .string()
  .max(512)
  .regex(
    /^(?:https:\/\/[a-z0-9.:-]+(?:\/|$)|\/(?!vsi)|[a-z0-9-]+(?:\/|$))[^\s%?#\\]*$/,
    "must be such as bronze/ddh, https://data.example.org/ddh or /mnt/ddh",
  )
  .refine((text) => !text.split("/").includes(".."), 'must not hold ".."');

/**
 * The settings of a platform that an operator edits. A new platform is a new row, without new code.
 */
export const platformEdit = z
  .strictObject({
    display_name: z.string().min(1).max(200),
    required_refs: z.array(refName).min(1).max(16),
    optional_refs: z.array(refName).max(16).default([]),
    version_ref: refName
      .nullable()
      .default(null)
      .describe("the reference in which it sends its version: no part of an asset's identity"),
    is_active: z.boolean().default(true),
    callback_url: callbackUrl.nullable().default(null).describe("for requests that name none"),
    callback_hosts: z.array(callbackHost).max(64).default([]),
    source_prefixes: z
      .array(sourcePrefix)
      .max(64)
      .default([])
      .describe("where its files may lie; default: bronze/ and the platform's id"),
    collections: z
      .array(z.string().min(1).max(255))
      .max(256)
      .default([])
      .describe("collections of others that its items may join; its own need not be named"),
  })
  .refine(
    ({ required_refs, optional_refs, version_ref }) => {
      const all = [...required_refs, ...optional_refs, ...(version_ref ? [version_ref] : [])];
      return new Set(all).size === all.length;
    },
    { path: ["required_refs"], message: "a reference is named twice" },
  );
export type PlatformEdit = z.output<typeof platformEdit>;

export interface Platform extends PlatformEdit {
  readonly platform_id: string;
  readonly secret_number: number;
  readonly secret_changed_at: string | null;
  readonly row_version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/**
 * `submit`: submit data. `read`: see the platform's own data. `curate`: approve. `admin`: all of
 * these, and manage keys.
 */
export const keyScope = z.enum(["submit", "read", "curate", "admin"]);
export type KeyScope = z.infer<typeof keyScope>;

export const keyId = z.string().regex(/^[0-9a-f]{12}$/, "must be 12 hex digits");

/**
 * `rmhk_<key_id>_<secret>`. The key id names the key in lists and logs; the secret is not stored.
 */
export const apiKeyPattern = /^rmhk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;
