import { describe, expect, it } from "vitest";
import type { Declared } from "./submit-draft.ts";
import {
  draftKey,
  hideSecrets,
  inOrder,
  keptOf,
  readDraft,
  startDraft,
  switchMode,
} from "./submit-draft.ts";

const declared: Declared = {
  zz: { type: "string", required: false, default: "x" },
  a_long_name: { type: "array", required: true },
  b: { type: "integer", required: false },
  c: { type: "string", required: true },
};

describe("the draft of a submission", () => {
  it("has the required inputs first, otherwise in the order of the file", () => {
    expect(inOrder(declared).map(([name]) => name)).toEqual(["a_long_name", "c", "zz", "b"]);
  });

  it("keeps what was typed from the form to JSON and back", () => {
    const typed = startDraft(declared, {});
    const form = { ...typed, fields: { ...typed.fields, a_long_name: "[1, 2]", b: "7" } };
    const json = switchMode(declared, form).draft;
    expect(JSON.parse(json.text)).toEqual({ a_long_name: [1, 2], zz: "x", b: 7 });
    const edited = { ...json, text: '{"a_long_name": [3], "c": "new"}' };
    const again = switchMode(declared, edited).draft;
    expect(again).toMatchObject({ mode: "form", fields: { a_long_name: "[3]", c: "new", zz: "" } });
  });

  it("keeps no secret, shows none in a command, and takes none from dots", () => {
    const withSecret: Declared = {
      ...declared,
      token: { type: "string", required: true, secret: true, default: "••••••••" },
    };
    const started = startDraft(withSecret, { token: "••••••••", c: "given" });
    expect(started.fields).toMatchObject({ token: "", c: "given" });
    expect(started.text).not.toContain("token");
    const form = { ...started, fields: { ...started.fields, token: "hush-hush" } };
    const json = { ...started, mode: "json" as const, text: '{"token": "hush-hush", "c": "x"}' };
    for (const draft of [form, json, { ...json, text: '{"token": "hush-hush' }]) {
      expect(JSON.stringify(keptOf(withSecret, draft))).not.toContain("hush");
    }
    expect(hideSecrets(withSecret, { token: "hush-hush", c: "x" })).toEqual({
      token: "••••••••",
      c: "x",
    });
  });

  it("stays where it is if the other way could not hold it", () => {
    const json = { ...startDraft(declared, {}), mode: "json" as const };
    for (const text of ["{", "[1]", '{"unknown": 1}']) {
      const result = switchMode(declared, { ...json, text });
      expect(result.draft).toEqual({ ...json, text });
      expect([...result.problems.keys()]).toEqual([""]);
    }
    const form = { ...startDraft(declared, {}), fields: { a_long_name: "not json", b: "7" } };
    const result = switchMode(declared, form);
    expect(result.draft).toBe(form);
    expect([...result.problems.keys()]).toEqual(["a_long_name"]);
  });

  it("is read by the type of each input", () => {
    const draft = { ...startDraft(declared, {}), fields: { c: "5", b: "5", zz: "" } };
    expect(readDraft(declared, draft).inputs).toEqual({ c: "5", b: 5 });
  });

  it("is kept by user, so that the next user of the tab does not see it", () => {
    expect(draftKey("ann", "w", undefined)).not.toBe(draftKey("bob", "w", undefined));
  });
});
