import type { Calls } from "./wasm-calls.ts";
import type { Pointer } from "./wasm-library.ts";
import type { ProgramRun } from "./wasm-run-program.ts";

const longitudeFirst = 0;
const doubleBytes = 8;

/** Runs `gdaltransform -s_srs … -t_srs …`: a line of coordinates in, a line out. */
export function transformPoints(
  calls: Calls,
  options: readonly string[],
  run: ProgramRun,
): boolean {
  const valueOf = (option: string) => options[options.indexOf(option) + 1] ?? "";
  const other = options.find((each) => each.startsWith("-") && !known.has(each));
  if (other !== undefined) {
    run.complain(`ERROR 1: ${other} is not supported by gdaltransform here.`);
    return false;
  }
  const from = system(calls, valueOf("-s_srs"));
  const to = from === 0 ? 0 : system(calls, valueOf("-t_srs"));
  const transformation = to === 0 ? 0 : calls.number("OCTNewCoordinateTransformation", [from, to]);
  if (transformation === 0) return false;
  const [x, y, z] = [0, 1, 2].map(() => calls.library._malloc(doubleBytes)) as [
    Pointer,
    Pointer,
    Pointer,
  ];
  const is2d = options.includes("-output_xy");
  for (const line of run.stdin.split("\n")) {
    if (line.trim() === "") continue;
    const given = line.trim().split(/\s+/).map(Number);
    [x, y, z].forEach((pointer, index) => {
      calls.library.setValue(pointer, given[index] ?? 0, "double");
    });
    const isDone = calls.number("OCTTransform", [transformation, 1, x, y, z]) !== 0;
    const shown = (is2d ? [x, y] : [x, y, z]).map((pointer) =>
      isDone ? calls.library.getValue(pointer, "double") : Infinity,
    );
    run.print(
      `${shown.map((value) => (Number.isFinite(value) ? String(value) : "inf")).join(" ")}\n`,
    );
  }
  return true;
}

const known = new Set(["-s_srs", "-t_srs", "-output_xy"]);

function system(calls: Calls, definition: string): Pointer {
  const made = calls.number("OSRNewSpatialReference", [0]);
  if (calls.number("OSRSetFromUserInput", [made, definition]) !== 0) return 0;
  calls.number("OSRSetAxisMappingStrategy", [made, longitudeFirst]);
  return made;
}
