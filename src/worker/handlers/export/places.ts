/** Where the packages of versions lie in storage. */

interface VersionKey {
  readonly asset_id: string;
  readonly version_ordinal: number;
}

/** Below a zone: `{asset}/v{ordinal}/`. */
export function folderOfVersion({ asset_id, version_ordinal }: VersionKey): string {
  return `${asset_id}/v${version_ordinal}`;
}

/**
 * Each revision has a folder of its own, so that a client that downloads the old revision during an
 * export gets it whole.
 */
export function folderOfRevision(key: VersionKey & { readonly revision: number }): string {
  return `${folderOfVersion(key)}/r${key.revision}`;
}

/** Beside the revisions, because everything in the folder of a revision is copied to the public. */
export function folderOfDownloads(key: VersionKey & { readonly revision: number }): string {
  return `${folderOfVersion(key)}/downloads/r${key.revision}`;
}

/** The root of the static catalogue, in each zone that has one. */
export const rootName = "catalog.json";
export const manifestName = "manifest.json";
