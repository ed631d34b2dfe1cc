import { expect, it } from "vitest";
import { CsvRows } from "./csv-rows.ts";

it.each([
  ["lon,lat,name\n1,2,Smith, John\n3,4,b\n", 1],
  ['lon,lat,name\r\n1,2,"Smith, John"\r\n3,4,"a\n,,,"\r\n', 0],
  ["lon;lat;v\n1,5;2,5;3,5\n1;2;3;4\n", 1],
  ["lon\tlat\n1\t2\t\t \n", 0],
  ["lon,lat\n1\n1,2,x,y,z", 1],
])("%j has %i rows with values beyond the last column, however it is cut", (text, wide) => {
  const bytes = Buffer.from(text);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const rows = new CsvRows();
    rows.push(bytes.subarray(0, cut));
    rows.push(bytes.subarray(cut));
    expect(rows.wide).toBe(wide);
  }
});
