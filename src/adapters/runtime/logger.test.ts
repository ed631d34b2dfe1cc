import { expect, it } from "vitest";
import { createLogger } from "./logger.ts";

function record(format: "json" | "text") {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { log: createLogger({ name: "test", level: "info", format, destination }), lines };
}

it("hides secrets in fields, in addresses and in the texts of errors", () => {
  for (const format of ["json", "text"] as const) {
    const { log, lines } = record(format);
    const secret = "hunter2";
    log.info({ authorization: `Bearer ${secret}`, headers: { cookie: secret } }, "request");
    log.info({ config: { database: { password: secret } } }, "deep");
    log.info(`connecting to postgres://user:${secret}@host/db`);
    log.info(`reading https://host/blob?sv=1&sig=${secret}&se=2`);
    log.error({ err: new Error(`AccountKey=${secret};x`) }, "failed");
    log.info(`a key rmhk_0a1b2c3d4e5f_${secret} came in`);
    expect(lines).toHaveLength(6);
    expect(lines.join("")).not.toContain(secret);
    expect(lines.join("")).toContain("postgres://user:[hidden]@host/db");
  }
});

it("escapes control characters, which a terminal would act on", () => {
  for (const format of ["json", "text"] as const) {
    const { log, lines } = record(format);
    const text = "a\u001b]0;title\u0007\u009b2J";
    const err = new Error(text);
    log.error({ err, job: text }, text);
    expect(lines.join("").replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(lines.join("")).toContain("\\u009b2J");
  }
});

it("writes the explaining fields of an error, and no objects attached to it", () => {
  const { log, lines } = record("json");
  const cause = new Error("refused");
  const err = Object.assign(new Error("lost", { cause }), {
    code: "57P01",
    client: { secretKey: 12345 },
  });
  log.error({ err }, "failed");
  expect(JSON.parse(lines[0]!)).toMatchObject({
    err: { message: "lost", code: "57P01", cause: { message: "refused" } },
  });
  expect(lines[0]).not.toContain("12345");
});

it("writes one JSON object a line for machines, and a readable line for people", () => {
  const json = record("json");
  json.log.info({ queue: "q" }, "consuming");
  json.log.debug("too fine");
  expect(json.lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { level: 30, name: "test", msg: "consuming", queue: "q" },
  ]);
  const text = record("text");
  text.log.warn({ queue: "q" }, "slow");
  expect(text.lines[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}test\[\d+\] slow \{"queue":"q"\}\n$/,
  );
});

it("shows the stack of an error that repeats once, and its message each time", () => {
  for (const format of ["json", "text"] as const) {
    const { log, lines } = record(format);
    const fail = () => new Error("the database is away");
    for (let round = 0; round < 3; round++) log.warn({ err: fail() }, "trying again");
    const text = lines.join("");
    expect(text.match(/logger\.test\.ts/g)?.length).toBeLessThan(10);
    expect(text.match(/the database is away/g)?.length).toBeGreaterThanOrEqual(3);
    expect(lines.filter((line) => line.includes("logger.test.ts"))).toHaveLength(1);
  }
});
