/**
 * What the console does, as commands for a shell. Kept together because each of them has to be one
 * that the real program takes: a test hands all of them to it.
 */
export const commands = {
  cancelJob: (jobId: string, reason: string) =>
    command("jobs", "cancel", jobId, ...because(reason)),
  pauseJob: (jobId: string) => command("jobs", "pause", jobId),
  resumeJob: (jobId: string) => command("jobs", "resume", jobId),
  retryJob: (jobId: string) => command("jobs", "retry", jobId),
  rerunJob: (jobId: string, node: string) => command("jobs", "rerun", jobId, "--from", node),
  submitJob: (workflowId: string, inputs: Inputs) =>
    command("submit", workflowId, ...inputOptions(inputs), "--wait"),

  approveVersion: (version: VersionName, clearance: string, note: string) =>
    command(
      ...["versions", "approve", ...name(version), "--clearance", clearance],
      ...(note === "" ? [] : ["--note", note]),
    ),
  rejectVersion: (version: VersionName, reason: string) =>
    command("versions", "reject", ...name(version), ...because(reason || "why")),
  withdrawVersion: (version: VersionName, reason: string) =>
    command("versions", "withdraw", ...name(version), ...because(reason || "why")),
  unpublishVersion: (version: VersionName, reason: string) =>
    command("versions", "unpublish", ...name(version), ...because(reason)),
  resubmitVersion: (version: VersionName, inputs: Inputs) =>
    command("versions", "resubmit", ...name(version), ...inputOptions(inputs)),
  reprocessVersion: (version: VersionName) => command("versions", "reprocess", ...name(version)),
  rollbackVersion: (version: VersionName, revision: number) =>
    command("versions", "rollback", ...name(version), "--to", String(revision)),
  exportVersion: (version: VersionName) => command("versions", "export", ...name(version)),

  clearAsset: (assetId: string, clearance: string, reason: string) =>
    command("assets", "clear", assetId, clearance, ...because(reason)),
  exposeAsset: (assetId: string, exposure: string) =>
    command("assets", "expose", assetId, exposure),
  unpublishAsset: (assetId: string, reason: string) =>
    command("assets", "unpublish", assetId, ...because(reason)),

  requeue: (queue: string, ids: readonly string[]) => command("queues", "requeue", queue, ...ids),
  redeliver: (eventId: string) => command("callbacks", "redeliver", eventId),
  callbackSecret: (platformId: string, rotate: boolean) =>
    command("callbacks", "secret", platformId, ...(rotate ? ["--rotate"] : [])),

  setPlatform: (platformId: string, edit: PlatformWords) =>
    command(
      ...["platforms", "set", platformId, "--name", edit.display_name],
      ...each("--ref", edit.required_refs),
      ...each("--optional-ref", edit.optional_refs),
      ...given("--version-ref", edit.version_ref),
      ...given("--callback-url", edit.callback_url),
      ...each("--callback-host", edit.callback_hosts),
      ...(edit.is_active ? [] : ["--inactive"]),
    ),
  createKey: (key: KeyWords) =>
    command(
      ...["keys", "create", key.platform_id, "--name", key.name, "--scope", ...key.scopes],
      ...given("--expires", key.expires_at),
    ),
  rotateKey: (keyId: string, graceSeconds: number) =>
    command("keys", "rotate", keyId, "--grace", String(graceSeconds)),
  revokeKey: (keyId: string) => command("keys", "revoke", keyId),
};

export interface VersionName {
  readonly asset_id: string;
  readonly version_ordinal: number;
}

type Inputs = Readonly<Record<string, unknown>>;

interface PlatformWords {
  readonly display_name: string;
  readonly required_refs: readonly string[];
  readonly optional_refs: readonly string[];
  readonly version_ref: string | null;
  readonly callback_url: string | null;
  readonly callback_hosts: readonly string[];
  readonly is_active: boolean;
}

interface KeyWords {
  readonly platform_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

function name({ asset_id, version_ordinal }: VersionName): string[] {
  return [asset_id, String(version_ordinal)];
}

function because(reason: string): string[] {
  return reason === "" ? [] : ["--reason", reason];
}

function given(option: string, value: string | null): string[] {
  return value === null ? [] : [option, value];
}

function each(option: string, values: readonly string[]): string[] {
  return values.flatMap((value) => [option, value]);
}

/** Text that would be read as JSON, such as "5", is given as JSON. */
function inputOptions(inputs: Inputs): string[] {
  return Object.entries(inputs).flatMap(([key, value]) => {
    const isPlain = typeof value === "string" && !isJson(value);
    return ["--input", `${key}=${isPlain ? value : JSON.stringify(value)}`];
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function command(...words: readonly string[]): string {
  return ["rmhdag", ...words.map(quote)].join(" ");
}

/** So that a shell reads back exactly this. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
