import { expect, it } from "vitest";
import { spellHours } from "./spell-hours.ts";

const styled = (code: string) => `<numFmt numFmtId="164" formatCode="${code}"/>`;

it.each([
  ["yyyy-mm-dd h:mm:ss", "yyyy-mm-dd hh:mm:ss"],
  ["d/m/yy H:mm", "d/m/yy HH:mm"],
  ["yyyy-mm-dd hh:mm", "yyyy-mm-dd hh:mm"],
  ["[h]:mm", "[h]:mm"],
  ["0.0 &quot;h&quot;", "0.0 &quot;h&quot;"],
  ["0\\h", "0\\h"],
  ["[$-409]d.m.yyyy h:mm", "[$-409]d.m.yyyy hh:mm"],
])("%s becomes %s", (code, spelled) => {
  expect(spellHours(styled(code))).toBe(styled(spelled));
});

it("leaves all other attributes as they are", () => {
  const text = `<font name="h"/><numFmt formatCode='h:mm'/><x y="h"/>`;
  expect(spellHours(text)).toBe(`<font name="h"/><numFmt formatCode='hh:mm'/><x y="h"/>`);
});
