/**
 * To whom an item or a collection belongs. Items of a version are visible by its approval and
 * clearance, items of operators to every caller with read access.
 */
export type Owner = VersionOwner | { readonly kind: "operator" };

export interface VersionOwner {
  readonly kind: "version";
  readonly platform_id: string;
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly revision: number;
  /** The partner's own names of the version, which its items carry. */
  readonly names: Readonly<Record<string, string>>;
}

export const operators: Owner = { kind: "operator" };

/** The partner's own names of the version; undefined for items of operators. */
export function namesOf(owner: Owner | undefined): Readonly<Record<string, string>> | undefined {
  return owner?.kind === "version" ? owner.names : undefined;
}
