import type { JsonObject } from "../model/json.ts";

export interface NamedVersion {
  readonly platform_refs: JsonObject;
  readonly version_label: string;
  readonly request_id: string;
}

/**
 * The names by which a platform knows a version. The version's items carry them as
 * `platform:dataset_id`, `platform:version_id`, `platform:request_id` and so on.
 */
export function platformNames({
  platform_refs,
  version_label,
  request_id,
}: NamedVersion): Readonly<Record<string, string>> {
  const refs = Object.entries(platform_refs)
    .filter(([name]) => /^[a-z][a-z0-9_]*$/.test(name))
    .map(([name, value]) => [
      name,
      (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 255),
    ]);
  return { ...Object.fromEntries(refs), version_id: version_label, request_id } as Readonly<
    Record<string, string>
  >;
}

/** The id of a version's item; `part` distinguishes the items of a version that has several. */
export function versionItemId(
  { asset_id, version_ordinal }: { readonly asset_id: string; readonly version_ordinal: number },
  part?: string,
): string {
  const whole = `${asset_id}-v${version_ordinal}`;
  return part === undefined ? whole : `${whole}-${part}`.slice(0, 255);
}
