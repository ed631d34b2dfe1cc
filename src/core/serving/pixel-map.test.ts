import { describe, expect, it } from "vitest";
import { chooseLevel, measureReduction } from "./choose-level.ts";
import { mapPixels } from "./pixel-map.ts";

const whole = (width: number, height: number) => [0, 0, width, height] as const;

describe("mapPixels", () => {
  it("is exact where the way back is straight", () => {
    const box = whole(100, 100);
    const map = mapPixels({
      box,
      width: 50,
      height: 50,
      parts: [{ box, shift: 0 }],
      project: (x, y) => [x, y],
      toPixels: [1, 0, 0, 0, -1, 100],
    });
    expect(map.columns[0]).toBeCloseTo(1, 12);
    expect(map.rows[0]).toBeCloseTo(1, 12);
    expect(map.columns[50 * 50 - 1]).toBeCloseTo(99, 12);
    expect(map.rows[50 * 50 - 1]).toBeCloseTo(99, 12);
  });

  it("stays within a tenth of a pixel where it is curved", () => {
    const box = whole(256, 256);
    const project = (x: number, y: number) => [x + 20 * Math.sin(y / 100), y] as const;
    const map = mapPixels({
      box,
      width: 256,
      height: 256,
      parts: [{ box, shift: 0 }],
      project,
      toPixels: [1, 0, 0, 0, -1, 256],
    });
    let worst = 0;
    for (let y = 0; y < 256; y++) {
      for (let x = 0; x < 256; x++) {
        const [exact] = project(x + 0.5, 256 - (y + 0.5));
        worst = Math.max(worst, Math.abs(exact - map.columns[y * 256 + x]!));
      }
    }
    expect(worst).toBeGreaterThan(0);
    expect(worst).toBeLessThan(0.1);
  });

  it("has every pixel within the reach of a cell", () => {
    const box = whole(100, 90);
    const map = mapPixels({
      box,
      width: 100,
      height: 90,
      parts: [
        { box: [0, 0, 37, 90], shift: 0 },
        { box: [50, 20, 100, 90], shift: 3 },
      ],
      project: (x, y) => (y > 70 && x < 9 ? undefined : [x + 20 * Math.sin(y / 30), y * 2]),
      toPixels: [1, 0, 0, 0, -1, 100],
    });
    let found = 0;
    for (const [index, column] of map.columns.entries()) {
      const row = map.rows[index]!;
      if (Number.isNaN(column) || Number.isNaN(row)) continue;
      found++;
      const holds = (at: number) => {
        const [west = 0, north = 0, east = 0, south = 0] = map.reaches.slice(at, at + 4);
        return column >= west && column <= east && row >= north && row <= south;
      };
      const isHeld = Array.from({ length: map.reaches.length / 4 }, (_, cell) => 4 * cell).some(
        holds,
      );
      if (!isHeld) expect.fail(`${column}, ${row} is in no cell`);
    }
    expect(found).toBeGreaterThan(5000);
  });

  it("leaves out what is not covered and what has no place", () => {
    const map = mapPixels({
      box: whole(10, 10),
      width: 10,
      height: 10,
      parts: [{ box: [0, 0, 5, 10], shift: 0 }],
      project: (x, y) => (y > 5 ? undefined : [x, y]),
      toPixels: [1, 0, 0, 0, -1, 10],
    });
    expect(map.columns[9 * 10 + 7]).toBeNaN();
    expect(map.columns[0]).toBeNaN();
    expect(map.columns[9 * 10]).toBe(0.5);
  });
});

describe("the level to read", () => {
  const levels = [1001, 501, 251].map((width) => ({ width, height: width }));
  const reduced = (factor: number) => {
    const map = mapPixels({
      box: whole(64, 64),
      width: 64,
      height: 64,
      parts: [{ box: whole(64, 64), shift: 0 }],
      project: (x, y) => [x, y],
      toPixels: [factor, 0, 0, 0, -factor, 64 * factor],
    });
    return measureReduction(map)!;
  };

  it.each([
    [0.5, 0],
    [1, 0],
    [1.9, 0],
    [2, 1],
    [3.9, 1],
    [4, 2],
    [40, 2],
  ])("for a reduction of %d is %d", (factor, expected) => {
    expect(reduced(factor)).toBeCloseTo(factor, 6);
    expect(chooseLevel(levels, reduced(factor))).toBe(expected);
  });
});
