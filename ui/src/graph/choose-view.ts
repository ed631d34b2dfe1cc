/** What of a graph is shown first: all of it if its text can be read then, otherwise a part of it. */

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Rectangle extends Size {
  readonly x: number;
  readonly y: number;
}

export interface View {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

/** Below this zoom some text of a node is smaller than 11 pixels. */
export const readable = 0.92;
const largest = 1.1;
const margin = 20;

/** The zoom that shows the whole graph. */
export function fitZoom(graph: Size, box: Size): number {
  const [wide, tall] = fits(graph, box);
  return Math.min(wide, tall);
}

function fits(graph: Size, box: Size): [wide: number, tall: number] {
  return [(box.width - 2 * margin) / graph.width, (box.height - 2 * margin) / graph.height];
}

/**
 * How well a layout suits a box. Layouts whose whole text can be read are the best; then those that a
 * person must move in one direction only.
 */
export function suits(graph: Size, box: Size): number {
  const fit = fitZoom(graph, box);
  if (fit >= readable) return 2 + Math.min(fit, 1);
  return (Math.max(...fits(graph, box)) >= readable ? 1 : 0) + fit;
}

/** Where the graph is too large for the box, `focus` is in the middle, as far as the graph extends. */
export function chooseView(graph: Size, box: Size, focus: Rectangle): View {
  const fit = fitZoom(graph, box);
  const zoom =
    fit >= readable
      ? Math.floor(Math.min(fit, largest) * 100) / 100
      : Math.min(Math.max(readable, ...fits(graph, box)), 1);
  return {
    zoom,
    x: offset(graph.width * zoom, box.width, (focus.x + focus.width / 2) * zoom),
    y: offset(graph.height * zoom, box.height, (focus.y + focus.height / 2) * zoom),
  };
}

function offset(size: number, room: number, middle: number): number {
  if (size + 2 * margin <= room) return (room - size) / 2;
  return Math.min(Math.max(room / 2 - middle, room - margin - size), margin);
}

/** Whether the rectangle is in the box as a whole. */
export function isInView({ zoom, x, y }: View, box: Size, seen: Rectangle): boolean {
  const [left, top] = [seen.x * zoom + x, seen.y * zoom + y];
  return (
    left >= -1 &&
    top >= -1 &&
    left + seen.width * zoom <= box.width + 1 &&
    top + seen.height * zoom <= box.height + 1
  );
}
