import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiTest } from "../../../test/support/api.ts";
import { openApiTest } from "../../../test/support/api.ts";
import { makeWorkflowFolder } from "../../../test/support/domain.ts";
import { apiKeyPattern } from "../../core/model/platform.ts";

let test: ApiTest;
let folder: Awaited<ReturnType<typeof makeWorkflowFolder>>;
beforeAll(async () => {
  folder = await makeWorkflowFolder();
  test = await openApiTest(folder.folder);
  await test.storage.put("bronze/maps/a.tif", new Uint8Array([1]));
});
afterAll(async () => {
  await test.close();
  await folder.remove();
});

describe("the registry of platforms", () => {
  it("knows three from the start", async () => {
    const { items } = await test.reader.listPlatforms();
    expect(items.map(({ platform_id }) => platform_id)).toEqual(["arcgis", "ddh", "geonode"]);
  });

  it("takes a new one without new code, and refuses a change of an older state", async () => {
    const params = { platform_id: "atlas" };
    const body = { display_name: "Atlas", required_refs: ["sheet"] };
    const made = await test.operator.putPlatform({ params, body });
    expect(made).toMatchObject({ is_active: true, optional_refs: [], row_version: 1 });
    await expect(test.operator.putPlatform({ params, body })).rejects.toMatchObject({
      code: "EDIT_NEEDS_MATCH",
    });
    const put = () =>
      test.operator.putPlatform({
        params,
        headers: { "if-match": '"1"' },
        body: { ...body, display_name: "The atlas" },
      });
    expect((await put()).row_version).toBe(2);
    await expect(put()).rejects.toMatchObject({ code: "EDIT_CONFLICT" });
  });

  it("keeps what identifies assets once there are some, and takes nothing from one switched off", async () => {
    const params = { platform_id: "maps" };
    const body = { display_name: "Maps", required_refs: ["sheet"] };
    await test.operator.putPlatform({ params, body });
    const submit = (sheet: string) =>
      test.operator.submitAsset({
        body: {
          platform_id: "maps",
          platform_refs: { sheet },
          version_label: "1",
          workflow_id: "etl_test",
          inputs: { blob_path: "maps/a.tif" },
        },
      });
    await submit("a");
    const change = (row: number, more: object) =>
      test.operator.putPlatform({
        params,
        headers: { "if-match": `"${row}"` },
        body: { ...body, ...more },
      });
    await expect(change(1, { required_refs: ["page"] })).rejects.toMatchObject({
      code: "PLATFORM_IN_USE",
    });
    expect((await change(1, { optional_refs: ["page"] })).row_version).toBe(2);
    await change(2, { optional_refs: ["page"], is_active: false });
    await expect(submit("b")).rejects.toMatchObject({ code: "PLATFORM_INACTIVE" });
  });

  it("refuses references that are named twice", async () => {
    await expect(
      test.operator.putPlatform({
        params: { platform_id: "twice" },
        body: { display_name: "Twice", required_refs: ["a"], version_ref: "a" },
      }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });
});

describe("API keys", () => {
  const create = (name: string) =>
    test.operator.createKey({ body: { platform_id: "ddh", name, scopes: ["submit", "read"] } });

  it("are shown once and stored as a hash", async () => {
    const made = await create("portal");
    expect(made.key).toMatch(apiKeyPattern);
    expect(made.key).toContain(made.key_id);
    const { rows } = await test.database.db.query<{ key_hash: string }>(
      "SELECT * FROM dagapp.api_keys WHERE key_id = $1",
      [made.key_id],
    );
    expect(rows[0]?.key_hash).toBe(createHash("sha256").update(made.key).digest("hex"));
    expect(JSON.stringify(rows)).not.toContain(made.key);
    const listed = await test.operator.listKeys({ query: { platform_id: "ddh" } });
    expect(JSON.stringify(listed)).not.toContain(made.key);
    expect(JSON.stringify(listed)).not.toContain(rows[0]!.key_hash);
  });

  it("are rotated with a time in which both are good, and revoked for ever", async () => {
    const old = await create("rotating");
    const params = { key_id: old.key_id };
    const next = await test.operator.rotateKey({ params, body: { grace_seconds: 60 } });
    expect(next).toMatchObject({ rotated_from: old.key_id, scopes: ["submit", "read"] });
    const { items } = await test.operator.listKeys();
    const ends = items.find(({ key_id }) => key_id === old.key_id)?.expires_at;
    expect(Date.parse(String(ends))).toBeLessThan(Date.now() + 61_000);
    const revoked = await test.operator.revokeKey({ params });
    expect(revoked.revoked_by).toBe("operator");
    expect(await test.operator.revokeKey({ params })).toEqual(revoked);
    await expect(test.operator.rotateKey({ params })).rejects.toMatchObject({
      code: "TRANSITION_REFUSED",
    });
  });

  it("are refused for what is not there", async () => {
    await expect(
      test.operator.createKey({ body: { platform_id: "nobody", name: "x", scopes: ["read"] } }),
    ).rejects.toMatchObject({ code: "PLATFORM_NOT_FOUND" });
    await expect(
      test.operator.revokeKey({ params: { key_id: "0".repeat(12) } }),
    ).rejects.toMatchObject({ code: "KEY_NOT_FOUND" });
    await expect(test.reader.listKeys()).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});
