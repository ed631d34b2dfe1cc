/**
 * The file behind an asset: a path in storage, or the address of a TIFF on another server, which is read
 * in parts and not copied. The server that reads it decides whether the host is allowed.
 */
export function fileOfAsset(asset: {
  readonly "rmhdag:path"?: string | undefined;
  readonly href?: unknown;
  readonly type?: unknown;
}): string | undefined {
  const { "rmhdag:path": path, href, type } = asset;
  if (path !== undefined) return path;
  if (typeof href !== "string" || !isAddress(href)) return undefined;
  return typeof type === "string" && /^image\/(?:tiff|vnd\.stac\.geotiff)\b/.test(type)
    ? href
    : undefined;
}

/** Paths in storage begin with the name of a zone. */
export function isAddress(path: string): boolean {
  return /^https?:\/\//i.test(path);
}
