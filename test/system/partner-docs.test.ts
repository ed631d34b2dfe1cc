/** The examples for partners, run as they stand. */
import { execFile, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GatewayTest } from "../support/gateway.ts";

const folder = path.resolve(import.meta.dirname, "../../docs/partners");

async function blocks(file: string, language: string): Promise<string[]> {
  const text = await readFile(path.join(folder, file), "utf8");
  const found = text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"));
  return [...found].map(([, code]) => code!);
}

let work: string;
beforeAll(async () => {
  work = await mkdtemp(path.join(tmpdir(), "rmhdag-docs-"));
});
afterAll(() => rm(work, { recursive: true }));

/** A TypeScript example as a module. */
async function load<Module>(file: string): Promise<Module> {
  const [code = ""] = await blocks(file, "ts");
  const { code: compiled } = await transform(code, { loader: "ts", target: "es2022" });
  const place = path.join(work, `${file}.mjs`);
  await writeFile(place, compiled);
  return (await import(place)) as Module;
}

const secret = "whsec_example";
const body = '{"event_id":"evt_1","text":"Łódź"}';
const sign = (time: number, with_ = secret) =>
  `v1=${createHmac("sha256", with_).update(`${time}.${body}`).digest("hex")}`;
const now = () => Math.floor(Date.now() / 1000);

const cases: readonly [string, () => string, boolean][] = [
  ["a good signature", () => `t=${now()},${sign(now())}`, true],
  ["one of two, as after a rotation", () => `t=${now()},${sign(now(), "x")},${sign(now())}`, true],
  ["a forged signature", () => `t=${now()},${sign(now(), "other")}`, false],
  ["one that is replayed", () => `t=${now() - 3600},${sign(now() - 3600)}`, false],
  ["one with a new time on it", () => `t=${now()},${sign(now() - 3600)}`, false],
  ["none", () => `t=${now()}`, false],
  ["nonsense", () => "v1=,t=x,=", false],
];

describe("the verification of callbacks", () => {
  it.each(cases)("in TypeScript judges %s", async (_what, header, expected) => {
    const { isFromPlatform } = await load<{
      isFromPlatform: (secret: string, signature: string, body: string) => boolean;
    }>("callbacks.md");
    expect(isFromPlatform(secret, header(), body)).toBe(expected);
    expect(isFromPlatform(secret, header(), `${body} `)).toBe(false);
  });

  const python = spawnSync("python3", ["--version"]).status === 0;
  it.skipIf(!python).each(cases)(
    "in Python judges %s (needs python3)",
    async (_what, header, expected) => {
      const [code = ""] = await blocks("callbacks.md", "python");
      const program = `${code}\nimport sys\nprint(is_from_platform(sys.argv[1], sys.argv[2], sys.argv[3].encode()))`;
      const { stdout } = await promisify(execFile)("python3", [
        "-c",
        program,
        secret,
        header(),
        body,
      ]);
      expect(stdout.trim()).toBe(expected ? "True" : "False");
    },
  );

  const openssl = spawnSync("openssl", ["version"]).status === 0;
  it.skipIf(!openssl)("by hand gives the same signature (needs openssl)", async () => {
    const code = (await blocks("callbacks.md", "sh")).at(-1)!;
    const env = { PATH: process.env["PATH"], TIME: "1767268800", BODY: body, SECRET: secret };
    const { stdout } = await promisify(execFile)("bash", ["-c", code], { env });
    expect(`v1=${stdout.trim()}`).toBe(sign(1_767_268_800));
  });
});

describe("the examples with curl", () => {
  const curl = spawnSync("curl", ["--version"]).status === 0;

  it.skipIf(!curl)("work against a gateway, in the order of the pages (needs curl)", async () => {
    const test = await GatewayTest.open();
    const env = {
      PATH: process.env["PATH"],
      GATEWAY: test.url,
      KEY: await test.key("ddh", "admin"),
    };
    const pages = ["README.md", "authentication.md", "submit.md", "poll.md"];
    const code = (await Promise.all(pages.map((page) => blocks(page, "sh")))).flat();
    code.push((await blocks("callbacks.md", "sh"))[0]!);
    const script = code.join("\necho\n");
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
      env,
    });
    expect(stdout).toContain('"display_name":"Data Distribution Hub"');
    expect(stdout).toContain('"status":"accepted"');
    expect(stdout).toContain('"event_type":"asset_created"');
    expect(stdout).toContain('"secret":"whsec_');

    const { waitFor } = await load<{
      waitFor: (gateway: string, key: string, id: string) => Promise<{ status: string }>;
    }>("poll.md");
    const [, id = ""] = /"request_id":"([^"]+)"/.exec(stdout) ?? [];
    const { job_id } = await test.api.reader.getRequest({ params: { request_id: id } });
    for (const task of await test.api.engine.take(job_id)) {
      await test.api.engine.complete(task, { greeting: "Hello!" });
    }
    await test.api.engine.tick();
    expect(await waitFor(test.url, env.KEY, id)).toMatchObject({ status: "completed" });
    await test.close();
  });
});
