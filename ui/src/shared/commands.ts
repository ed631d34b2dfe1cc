/**
 * The actions of the console as commands for a shell. They stand together because a test passes each
 * of them to the real program.
 */
export const commands = {
  cancelJob: (jobId: string, reason: string) =>
    command("jobs", "cancel", jobId, ...option("--reason", reason)),
  pauseJob: (jobId: string) => command("jobs", "pause", jobId),
  resumeJob: (jobId: string) => command("jobs", "resume", jobId),
  retryJob: (jobId: string) => command("jobs", "retry", jobId),
  rerunJob: (jobId: string, node: string) => command("jobs", "rerun", jobId, "--from", node),
  submitJob: (workflowId: string, inputs: Inputs) =>
    command("submit", workflowId, ...inputOptions(inputs), "--wait"),

  approveVersion: (version: VersionName, clearance: string, note: string) =>
    command(
      "versions",
      "approve",
      ...versionArguments(version),
      "--clearance",
      clearance,
      ...option("--note", note),
    ),
  rejectVersion: (version: VersionName, reason: string) =>
    command(
      "versions",
      "reject",
      ...versionArguments(version),
      ...option("--reason", reason || "why"),
    ),
  withdrawVersion: (version: VersionName, reason: string) =>
    command(
      "versions",
      "withdraw",
      ...versionArguments(version),
      ...option("--reason", reason || "why"),
    ),
  unpublishVersion: (version: VersionName, reason: string) =>
    command("versions", "unpublish", ...versionArguments(version), ...option("--reason", reason)),
  resubmitVersion: (version: VersionName, inputs: Inputs) =>
    command("versions", "resubmit", ...versionArguments(version), ...inputOptions(inputs)),
  reprocessVersion: (version: VersionName) =>
    command("versions", "reprocess", ...versionArguments(version)),
  rollbackVersion: (version: VersionName, revision: number) =>
    command("versions", "rollback", ...versionArguments(version), "--to", String(revision)),
  exportVersion: (version: VersionName) =>
    command("versions", "export", ...versionArguments(version)),

  downloadVersion: ({ asset_id, version_ordinal }: VersionName, format: string) =>
    command("assets", "export", asset_id, "--ordinal", String(version_ordinal), "--format", format),

  clearAsset: (assetId: string, clearance: string, reason: string) =>
    command("assets", "clear", assetId, clearance, ...option("--reason", reason)),
  exposeAsset: (assetId: string, exposure: string) =>
    command("assets", "expose", assetId, exposure),
  unpublishAsset: (assetId: string, reason: string) =>
    command("assets", "unpublish", assetId, ...option("--reason", reason)),

  deleteFile: (path: string) => command("rm", path),

  requeue: (queue: string, ids: readonly string[]) => command("queues", "requeue", queue, ...ids),
  setCallback: (platformId: string, name: string, url: string) =>
    command("platforms", "set-callback", platformId, name, "--to", url),
  removeCallback: (platformId: string, name: string) =>
    command("platforms", "remove-callback", platformId, name),
  addressSecret: (platformId: string, name: string) =>
    command("platforms", "callback-secret", platformId, name),
  redeliver: (eventId: string) => command("callbacks", "redeliver", eventId),
  callbackSecret: (platformId: string, rotate: boolean) =>
    command("callbacks", "secret", platformId, ...(rotate ? ["--rotate"] : [])),

  setPlatform: (platformId: string, edit: PlatformSettings) =>
    command(
      "platforms",
      "set",
      platformId,
      "--name",
      edit.display_name,
      ...repeated("--ref", edit.required_refs),
      ...repeated("--optional-ref", edit.optional_refs),
      ...option("--version-ref", edit.version_ref),
      ...option("--callback-url", edit.callback_url),
      ...repeated("--callback-host", edit.callback_hosts),
      ...repeated("--source-prefix", edit.source_prefixes),
      ...repeated("--collection", edit.collections),
      ...(edit.is_active ? [] : ["--inactive"]),
    ),
  createKey: (key: KeySettings) =>
    command(
      "keys",
      "create",
      key.platform_id,
      "--name",
      key.name,
      "--scope",
      ...key.scopes,
      ...option("--expires", key.expires_at),
    ),
  rotateKey: (keyId: string, graceSeconds: number) =>
    command("keys", "rotate", keyId, "--grace", String(graceSeconds)),
  revokeKey: (keyId: string) => command("keys", "revoke", keyId),
  createToken: (name: string, role: string, expiresAt: string | null) =>
    command("tokens", "create", "--name", name, "--role", role, ...option("--expires", expiresAt)),
  revokeToken: (tokenId: string) => command("tokens", "revoke", tokenId),
  revokeSession: (sessionId: string) => command("sessions", "revoke", sessionId),
};

export interface VersionName {
  readonly asset_id: string;
  readonly version_ordinal: number;
}

type Inputs = Readonly<Record<string, unknown>>;

interface PlatformSettings {
  readonly display_name: string;
  readonly required_refs: readonly string[];
  readonly optional_refs: readonly string[];
  readonly version_ref: string | null;
  readonly callback_url: string | null;
  readonly callback_hosts: readonly string[];
  readonly source_prefixes: readonly string[];
  readonly collections: readonly string[];
  readonly is_active: boolean;
}

interface KeySettings {
  readonly platform_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

function versionArguments({ asset_id, version_ordinal }: VersionName): string[] {
  return [asset_id, String(version_ordinal)];
}

/** Nothing for an empty value: the option is left out. */
function option(name: string, value: string | null): string[] {
  return value === null || value === "" ? [] : [name, value];
}

function repeated(name: string, values: readonly string[]): string[] {
  return values.flatMap((value) => [name, value]);
}

/** A string that the command line would parse as JSON, such as "5", is passed as JSON. */
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

/** Quotes a word for a POSIX shell where that is needed. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
