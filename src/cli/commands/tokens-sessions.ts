import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../adapters/runtime/clock.ts";
import type { GrantableAccess } from "../../core/api/sign-in.ts";
import type { CliConfig } from "../common/config.ts";
import { ago } from "../common/format.ts";
import { say } from "../common/output.ts";
import { connect } from "./connect.ts";
import { addCommand, jsonOption, listCommand, printResult } from "./define-command.ts";

const loginExamples = `
Examples:
  rmhdag login-code                            a link that signs a browser in, once, within 10 minutes
  rmhdag login-code --role read                for a person who may only look
`;

/** Rights by role, as a proxy in front of the platform names them. */
const roles: Readonly<Record<string, readonly GrantableAccess[]>> = {
  read: ["read"],
  operate: ["read", "operate"],
  curate: ["read", "curate"],
  service: ["service"],
  work: ["work"],
};

function roleOption(description: string): Option {
  return new Option("--role <role...>", description).choices(Object.keys(roles));
}

function rightsOf(given: readonly string[]): GrantableAccess[] {
  return [...new Set(given.flatMap((role) => roles[role] ?? []))];
}

export function addLoginCode(program: Command, config: CliConfig): void {
  program
    .command("login-code")
    .description("print a link that signs a browser in to the console once")
    .addOption(roleOption("what the session may do; all that this token may, by default"))
    .addOption(jsonOption())
    .addHelpText("after", loginExamples)
    .action(async ({ role }: { role?: string[] }, command: Command) => {
      const made = await connect(command, config).createLoginCode({
        body: role === undefined ? {} : { access: rightsOf(role) },
      });
      printResult(command, made, [made.url, `code ${made.code}, until ${made.expires_at}`]);
    });
}

export function addSessions(program: Command, config: CliConfig): void {
  const sessions = program
    .command("sessions")
    .description("list and end the sessions of the console")
    .addHelpText("after", "\nExamples:\n  rmhdag sessions list\n");
  const list = sessions
    .command("list")
    .description("list the sessions of the last 30 days, the newest first")
    .option("--active", "only those that can still be used")
    .addHelpText("after", "\nExamples:\n  rmhdag sessions list --active\n");
  listCommand(list, config, {
    read: async (client, { active }: { active?: true }) =>
      (await client.listSessions()).items.filter((session) => session.active || active !== true),
    none: "No such sessions. `rmhdag login-code` prints a link that opens one.",
    columns: {
      SESSION: (session) => session.session_id,
      NAME: (session) => session.name,
      ACCESS: (session) => session.access.join(","),
      FROM: (session) => session.address,
      BROWSER: (session) => session.user_agent?.slice(0, 40) ?? null,
      OPENED: (session) => ago(session.created_at),
      SEEN: (session) => ago(session.last_seen_at),
      STATE: (session) => (session.active ? "active" : "over"),
    },
  });
  addCommand(sessions, "revoke", "end a session at once", "SESSION")
    .argument("<session>")
    .action(async (session_id: string, _: unknown, command: Command) => {
      const ended = await connect(command, config).revokeSession({ params: { session_id } });
      printResult(command, ended, [`${session_id}: ended`]);
    });
}

export function addTokens(program: Command, config: CliConfig): void {
  const tokens = program
    .command("tokens")
    .description("list, create and revoke tokens for the API")
    .addHelpText(
      "after",
      "\nExamples:\n  rmhdag tokens create --name ci --role operate --expires 30d\n" +
        "  rmhdag tokens create --name partner --role work --queue gpu --handler acme.ndvi\n",
    );
  const list = tokens
    .command("list")
    .description("list the names and rights of tokens; never the tokens themselves")
    .addHelpText("after", "\nExamples:\n  rmhdag tokens list --json\n");
  listCommand(list, config, {
    read: async (client) => (await client.listTokens()).items,
    none: "No tokens. `rmhdag tokens create` makes one.",
    columns: {
      TOKEN: (token) => token.token_id ?? token.source,
      NAME: (token) => token.name,
      ACCESS: (token) => token.access.join(","),
      CREATED: (token) => ago(token.created_at),
      USED: (token) => ago(token.last_used_at),
      EXPIRES: (token) => token.expires_at ?? "never",
      STATE: (token) =>
        token.usable ? "valid" : token.revoked_at === null ? "expired" : "revoked",
    },
  });
  addCommand(tokens, "create", "make a token", "--name ci --role operate --expires 30d")
    .requiredOption("--name <name>", "the program or person that uses it")
    .addOption(roleOption("what it may do").makeOptionMandatory())
    .option("--queue <queue...>", "confine a token with the role work to these queues")
    .option("--handler <handler...>", "confine a token with the role work to these handlers")
    .option("--expires <time>", "in 30d or 12h, or at 2027-01-01T00:00:00Z; 90d by default", expiry)
    .action(async ({ name, role, expires, queue, handler }: NewToken, command: Command) => {
      const made = await connect(command, config).createToken({
        body: {
          name,
          access: rightsOf(role),
          ...(queue && { queues: queue }),
          ...(handler && { handlers: handler }),
          ...(expires && { expires_at: expires }),
        },
      });
      printResult(command, made, [made.token]);
      say(`The token is shown only once, and expires at ${made.expires_at ?? "no time"}.`);
    });
  addCommand(tokens, "revoke", "make a token invalid at once", "TOKEN")
    .argument("<token>")
    .action(async (token_id: string, _: unknown, command: Command) => {
      const token = await connect(command, config).revokeToken({ params: { token_id } });
      printResult(command, token, [`${token.name}: revoked`]);
    });
}

interface NewToken {
  readonly name: string;
  readonly role: string[];
  readonly expires?: string;
  readonly queue?: string[];
  readonly handler?: string[];
}

const unitMs = { h: 3_600_000, d: 86_400_000 };

function expiry(text: string): string {
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(text) ?? [];
  if (count !== undefined) {
    const length = Number(count) * unitMs[unit as keyof typeof unitMs];
    return new Date(systemClock.now().getTime() + length).toISOString();
  }
  if (
    /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  ) {
    return new Date(text).toISOString();
  }
  throw new InvalidArgumentError("It must be such as 30d, 12h or 2027-01-01T00:00:00Z.");
}
