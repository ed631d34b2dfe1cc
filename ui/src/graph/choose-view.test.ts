import { describe, expect, it } from "vitest";
import { chooseView, isInView, readable, suits } from "./choose-view.ts";
import { routePath } from "./route-path.ts";

const box = { width: 1100, height: 520 };
const first = { x: 0, y: 0, width: 196, height: 58 };

describe("the view of a graph", () => {
  it("shows all of it, in the middle, if its text can be read", () => {
    const view = chooseView({ width: 1100, height: 300 }, box, first);
    expect(view.zoom).toBeGreaterThanOrEqual(readable);
    expect(isInView(view, box, { x: 0, y: 0, width: 1100, height: 300 })).toBe(true);
  });

  it("otherwise shows the part around a node, never text of 6 pixels", () => {
    const graph = { width: 4000, height: 3000 };
    expect(chooseView(graph, box, first)).toEqual({ zoom: readable, x: 20, y: 20 });
    const middle = { ...first, x: 2000, y: 1500 };
    const view = chooseView(graph, box, middle);
    expect(isInView(view, box, middle)).toBe(true);
    const last = { ...first, x: 3804, y: 2942 };
    const end = chooseView(graph, box, last);
    expect(end.x + graph.width * end.zoom).toBeCloseTo(box.width - 20);
  });

  it("prefers what can be read whole, then what is moved in one direction only", () => {
    const whole = suits({ width: 1000, height: 400 }, box);
    const tall = suits({ width: 600, height: 5000 }, box);
    const large = suits({ width: 1500, height: 700 }, box);
    expect([large, tall, whole]).toEqual([large, tall, whole].sort((a, b) => a - b));
  });
});

it("draws the corners of a route round, also where they are close", () => {
  expect(
    routePath([
      { x: 0, y: 0 },
      { x: 20, y: 0 },
      { x: 20, y: 4 },
      { x: 40, y: 4 },
    ]),
  ).toBe("M 0 0 L 12 0 Q 20 0 20 2 L 20 2 Q 20 4 28 4 L 40 4");
});
