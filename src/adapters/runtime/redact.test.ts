import { describe, expect, it } from "vitest";
import { escapeControls, escapeUpperControls } from "./control-characters.ts";
import { hideSecrets } from "./redact.ts";

const secret = "hunter2hunter2";
const basic = Buffer.from(`user:${secret}`).toString("base64");

describe("a secret is hidden", () => {
  it.each([
    ["under an encoded name", `GET /stac?%61pi_key=${secret}&limit=1`],
    ["under a name that is encoded whole", `/x?%61%70%69%5f%6b%65%79=${secret}`],
    ["under a name that is encoded twice", `/x?%2561pi_key=${secret}`],
    ["as api_key", `/x?api_key=${secret}`],
    ["as api-key of a header", `{"x-api-key":"${secret}"}`],
    ["as apikey", `https://host/x?a=1&apikey=${secret}`],
    ["as a token", `/ui/login?token=${secret}&next=/ui`],
    ["as a token of some kind", `/x?access_token=${secret};refresh-token=${secret}`],
    ["in an address inside of an address", `/x?next=%2Fui%2Flogin%3Ftoken%3D${secret}%26a%3D1`],
    ["in the signature of another cloud", `https://b/x?X-Amz-Signature=${secret}&X-Amz-Date=1`],
    ["as Basic authorisation", `authorization: Basic ${basic}`],
    ["as Basic authorisation of a proxy", `{"msg":"Proxy-Authorization: basic ${basic}"}`],
    ["as the password of a URL", `postgres://user:${secret}@host/db`],
    ["as the user of an https URL", `https://${secret}@host/repository`],
    ["in a field with quotes in it", `{"password":"a\\"${secret}","b":1}`],
    ["in JSON inside of JSON", `{"msg":"{\\"client_secret\\":\\"${secret}\\"}"}`],
    ["in an object as Node prints it", `{ apiKey: '${secret}', b: 1 }`],
    ["in a connection string", `AccountName=a;AccountKey=${secret}==;x`],
  ])("%s", (_where, text) => {
    const shown = hideSecrets(text);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(basic);
    expect(shown).toContain("[hidden]");
  });
});

it("everything else stays", () => {
  for (const text of [
    '{"err":{"code":"57P01","message":"x"},"queue":"q"}',
    "/stac/search?limit=1&datetime=2024-01-01T00:00:00Z&collections=a,b",
    "postgres://user@host/db",
    "Basic checks passed; key of the map: dem",
    '{"key":"silver/a.tif","tokens":3}',
  ]) {
    expect(hideSecrets(text)).toBe(text);
  }
});

it("takes time that grows with the text and not faster", () => {
  const began = performance.now();
  for (const part of ["a.", "?a", "'a':", '"ab":\\"', "://", "&%61", "x:/"]) {
    hideSecrets(part.repeat(100_000));
  }
  expect(performance.now() - began).toBeLessThan(5000);
});

describe("control characters", () => {
  it("of the upper range are escaped, and JSON stays JSON", () => {
    const text = JSON.stringify({ name: "a\u009b31mb\u0085\u007f" });
    const shown = escapeUpperControls(text);
    expect(shown).toBe('{"name":"a\\u009b31mb\\u0085\\u007f"}');
    expect(JSON.parse(shown)).toEqual(JSON.parse(text));
  });

  it("are all escaped in a line for people, except tabs and line ends", () => {
    expect(escapeControls("a\u001b[2J\u009b\r\n\tb")).toBe("a\\u001b[2J\\u009b\\u000d\n\tb");
  });
});
