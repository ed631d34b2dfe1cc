import { describe, expect, it } from "vitest";
import { splitAtAntimeridian } from "./antimeridian.ts";
import { toGeoJson } from "./geojson.ts";
import type { Parts } from "./parts.ts";
import { signedArea } from "./parts.ts";

type Ring = [number, number][];

function polygon(...rings: Ring[]): Parts {
  const polygons = [rings.map((ring) => Float64Array.from(ring.flat()))];
  return { points: new Float64Array(0), lines: [], polygons };
}

function coordinates(parts: Parts): unknown {
  return (toGeoJson(parts) as { coordinates: unknown }).coordinates;
}

const halves = [
  [
    [
      [170, 40],
      [180, 40],
      [180, 50],
      [170, 50],
      [170, 40],
    ],
  ],
  [
    [
      [-180, 40],
      [-170, 40],
      [-170, 50],
      [-180, 50],
      [-180, 40],
    ],
  ],
];

describe("a polygon over the antimeridian", () => {
  it.each<[string, Ring]>([
    [
      "drawn beyond 180°",
      [
        [170, 40],
        [190, 40],
        [190, 50],
        [170, 50],
        [170, 40],
      ],
    ],
    [
      "with a jump",
      [
        [170, 40],
        [-170, 40],
        [-170, 50],
        [170, 50],
        [170, 40],
      ],
    ],
    [
      "clockwise, as shapefiles are",
      [
        [170, 40],
        [170, 50],
        [-170, 50],
        [-170, 40],
        [170, 40],
      ],
    ],
  ])("is cut into two when it is %s", (_, ring) => {
    const split = splitAtAntimeridian(polygon(ring));
    expect(split.polygons).toHaveLength(2);
    for (const [outer] of split.polygons) expect(signedArea(outer!)).toBeCloseTo(200, 9);
    const sorted = (coordinates(split) as number[][][][]).map(
      (each) => new Set(each[0]!.map(String)),
    );
    for (const half of halves) expect(sorted).toContainEqual(new Set(half[0]!.map(String)));
  });

  it("is cut where its edge crosses, not halfway", () => {
    const split = splitAtAntimeridian(
      polygon([
        [170, 40],
        [-170, 50],
        [-170, 60],
        [170, 50],
        [170, 40],
      ]),
    );
    expect(new Set((coordinates(split) as number[][][][]).flat(2).map(String))).toEqual(
      new Set(["170,40", "180,45", "180,55", "170,50", "-180,45", "-170,50", "-170,60", "-180,55"]),
    );
  });

  it("is led to the pole that it surrounds", () => {
    const split = splitAtAntimeridian(
      polygon([
        [0, 60],
        [90, 60],
        [179, 60],
        [-179, 60],
        [-90, 60],
        [0, 60],
      ]),
    );
    const [outer] = split.polygons[0]!;
    expect(split.polygons).toHaveLength(1);
    expect([...outer!].filter((_, index) => index % 2 === 1 && outer![index] === 90)).toHaveLength(
      2,
    );
    expect(signedArea(outer!)).toBeCloseTo(2 * 360 * 30, 6);
  });

  it("surrounds both poles only where the file's winding is to be trusted", () => {
    const ring: Ring = [
      [100, 60],
      [175, 65],
      [-175, 65],
      [-120, 0],
      [-170, -85],
      [175, -85],
      [0, -68],
      [-90, 0],
      [-90, 80],
      [0, 85],
      [100, 60],
    ];
    const trusted = splitAtAntimeridian(polygon(ring), { trustWinding: true });
    const expected =
      "180,-85 175,-85 0,-68 -90,0 -90,80 0,85 100,60 175,65 180,65 180,90 -180,90 -180,65 -175,65 -120,0 -170,-85 -180,-85 -180,-90 180,-90";
    expect(trusted.polygons).toHaveLength(1);
    expect(new Set((coordinates(trusted) as number[][][][]).flat(2).map(String))).toEqual(
      new Set(expected.split(" ")),
    );
    const careful = splitAtAntimeridian(polygon(ring));
    expect((coordinates(careful) as number[][][][]).flat(3)).not.toContain(90);
  });

  it("keeps a hole in the part that it lies in", () => {
    const hole: Ring = [
      [175, 44],
      [175, 46],
      [177, 46],
      [177, 44],
      [175, 44],
    ];
    const split = splitAtAntimeridian(
      polygon(
        [
          [170, 40],
          [190, 40],
          [190, 50],
          [170, 50],
          [170, 40],
        ],
        hole,
      ),
    );
    expect(split.polygons.map((rings) => rings.length).sort()).toEqual([1, 2]);
  });
});

describe("what does not cross", () => {
  it.each<[string, Ring]>([
    [
      "touches it",
      [
        [170, 0],
        [180, 0],
        [180, 10],
        [170, 10],
        [170, 0],
      ],
    ],
    [
      "runs along the frame of the map",
      [
        [-180, -90],
        [180, -90],
        [180, -80],
        [-180, -80],
        [-180, -90],
      ],
    ],
    [
      "is a wide box",
      [
        [-100, 0],
        [110, 0],
        [110, 10],
        [-100, 10],
        [-100, 0],
      ],
    ],
    [
      "is off by a rounding",
      [
        [170, 0],
        [180.0000000001, 0],
        [180, 10],
        [170, 10],
        [170, 0],
      ],
    ],
  ])("stays the same object when it %s", (_, ring) => {
    const parts = polygon(ring);
    expect(splitAtAntimeridian(parts)).toBe(parts);
  });
});

it("cuts a line, and brings a point back", () => {
  const parts: Parts = {
    points: Float64Array.of(190, 5),
    lines: [Float64Array.of(170, 0, -170, 10, -160, 10)],
    polygons: [],
  };
  const split = splitAtAntimeridian(parts);
  expect([...split.points]).toEqual([-170, 5]);
  expect(split.lines.map((line) => [...line])).toEqual([
    [170, 0, 180, 5],
    [-180, 5, -170, 10, -160, 10],
  ]);
});

describe("a polygon that is cut already", () => {
  it("does not swallow the pole where its vertices have either sign", () => {
    const fiji = polygon([
      [179.5, -17],
      [180, -17],
      [-180, -16.5],
      [180, -16],
      [179.5, -16],
      [179.5, -17],
    ]);
    const split = splitAtAntimeridian(fiji);
    expect(split.polygons).toHaveLength(1);
    expect(signedArea(split.polygons[0]![0]!)).toBeCloseTo(2 * 0.5, 9);
  });

  it.each<[string, Ring]>([
    [
      "Antarctica with its frame",
      [
        [-180, -85],
        [-180, -90],
        [180, -90],
        [180, -85],
        [60, -70],
        [-60, -70],
        [-180, -85],
      ],
    ],
    [
      "a cap of the north",
      [
        [-180, 80],
        [0, 80],
        [180, 80],
        [180, 90],
        [-180, 90],
        [-180, 80],
      ],
    ],
  ])("stays as it is: %s", (_, ring) => {
    const parts = polygon(ring);
    expect(splitAtAntimeridian(parts)).toBe(parts);
  });

  it("keeps points on the line and at the poles", () => {
    const points = Float64Array.of(180, 5, -180, 5, 0, 90, 180.0000000001, -90);
    const split = splitAtAntimeridian({ points, lines: [], polygons: [] });
    expect([...split.points]).toEqual([180, 5, -180, 5, 0, 90, 180, -90]);
  });
});
