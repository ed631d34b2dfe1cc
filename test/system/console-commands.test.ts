/** The commands that the console offers to copy work in a real shell with the real program. */
import { execFileSync } from "node:child_process";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/cli/common/config.ts";
import { createProgram } from "../../src/cli/program.ts";
import { commands } from "../../ui/src/shared/commands.ts";

const version = { asset_id: "0123456789abcdef0123456789abcdef", version_ordinal: 3 };
const nasty = 'it\'s "$HOME"; rm -rf / # `x` -- \n é';

/** One for each, so that a new command cannot be forgotten. */
const texts: Readonly<Record<keyof typeof commands, readonly string[]>> = {
  cancelJob: [commands.cancelJob("job-1", ""), commands.cancelJob("job-1", nasty)],
  pauseJob: [commands.pauseJob("job-1")],
  resumeJob: [commands.resumeJob("job-1")],
  retryJob: [commands.retryJob("job-1")],
  rerunJob: [commands.rerunJob("job-1", "a node")],
  submitJob: [
    commands.submitJob("echo_test", { message: nasty, count: 5, list: ["a"], text: "5" }),
  ],
  approveVersion: [
    commands.approveVersion(version, "ouo", ""),
    commands.approveVersion(version, "public", nasty),
  ],
  rejectVersion: [commands.rejectVersion(version, ""), commands.rejectVersion(version, nasty)],
  withdrawVersion: [commands.withdrawVersion(version, ""), commands.withdrawVersion(version, "-x")],
  unpublishVersion: [
    commands.unpublishVersion(version, ""),
    commands.unpublishVersion(version, "x"),
  ],
  resubmitVersion: [
    commands.resubmitVersion(version, {}),
    commands.resubmitVersion(version, { a: 1 }),
  ],
  reprocessVersion: [commands.reprocessVersion(version)],
  rollbackVersion: [commands.rollbackVersion(version, 2)],
  downloadVersion: [commands.downloadVersion(version, "geoparquet")],
  exportVersion: [commands.exportVersion(version)],
  clearAsset: [
    commands.clearAsset(version.asset_id, "uncleared", ""),
    commands.clearAsset(version.asset_id, "public", nasty),
  ],
  exposeAsset: [commands.exposeAsset(version.asset_id, "all-versions")],
  unpublishAsset: [commands.unpublishAsset(version.asset_id, nasty)],
  deleteFile: [commands.deleteFile("bronze/roads & paths.zip")],
  requeue: [commands.requeue("container-tasks", ["17", "18"])],
  setCallback: [commands.setCallback("ddh", "audit", "https://hooks.example.org/audit")],
  removeCallback: [commands.removeCallback("ddh", "audit")],
  addressSecret: [commands.addressSecret("ddh", "audit")],
  redeliver: [commands.redeliver("evt_1")],
  callbackSecret: [commands.callbackSecret("ddh", false), commands.callbackSecret("ddh", true)],
  setPlatform: [
    commands.setPlatform("ddh", {
      display_name: nasty,
      required_refs: ["dataset_id", "resource_id"],
      optional_refs: ["tile"],
      version_ref: "version_id",
      callback_url: "https://hooks.example.org/a?b=c&d",
      callback_hosts: ["*.example.org"],
      source_prefixes: ["bronze/ddh"],
      collections: ["shared"],
      is_active: false,
    }),
  ],
  createKey: [
    commands.createKey({
      platform_id: "ddh",
      name: nasty,
      scopes: ["submit", "read"],
      expires_at: "2027-01-01T00:00:00Z",
    }),
  ],
  rotateKey: [commands.rotateKey("0123456789ab", 3600)],
  revokeKey: [commands.revokeKey("0123456789ab")],
  createToken: [
    commands.createToken("ci", "operate", null),
    commands.createToken("ci", "read", "2027-01-01T00:00:00Z"),
  ],
  revokeToken: [commands.revokeToken("0123456789ab")],
  revokeSession: [commands.revokeSession("0123456789abcdef")],
};

/** The words that a shell makes of it, the program's name left out. */
function shellWords(text: string): string[] {
  const script = `set -- ${text.replace(/^rmhdag /, "")}; printf '%s\\0' "$@"`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

interface Taken {
  readonly path: string;
  readonly args: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** What the program would have run. */
async function take(words: readonly string[]): Promise<Taken | undefined> {
  const program = createProgram(readConfig({}));
  let taken: Taken | undefined;
  const watch = (command: Command, path: string): void => {
    command.configureOutput({ writeErr: () => undefined });
    if (command.commands.length === 0) {
      command.action(() => {
        taken = { path, args: command.processedArgs, options: command.opts() };
      });
    }
    for (const inner of command.commands) watch(inner, `${path} ${inner.name()}`.trim());
  };
  for (const command of program.commands) watch(command, command.name());
  await program.parseAsync(words, { from: "user" });
  return taken;
}

describe("the commands that the console shows", () => {
  it.each(Object.entries(texts))("%s is one that rmhdag takes", async (_, all) => {
    for (const text of all) {
      expect(text).toMatch(/^rmhdag /);
      const taken = await take(shellWords(text));
      expect(text.startsWith(`rmhdag ${taken?.path ?? "none"} `)).toBe(true);
    }
  });

  it("carry what was written, whatever it holds", async () => {
    const [, text = ""] = texts.rejectVersion;
    expect(await take(shellWords(text))).toEqual({
      path: "versions reject",
      args: [version.asset_id, 3],
      options: { reason: nasty },
    });
    const submitted = await take(shellWords(texts.submitJob[0]!));
    expect(submitted?.options["input"]).toEqual([
      `message=${nasty}`,
      "count=5",
      'list=["a"]',
      'text="5"',
    ]);
  });

  it("would not be taken if they were wrong", async () => {
    await expect(take(["versions", "approve", version.asset_id, "3"])).rejects.toThrow("clearance");
    await expect(take(["assets", "reject", version.asset_id])).rejects.toThrow("unknown command");
  });
});
