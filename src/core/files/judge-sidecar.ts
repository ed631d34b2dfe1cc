/** Judges the files beside a source that belong to it: each must be what its extension says. */
import type { FileProblem } from "./problem.ts";

const largestText = 64 * 1024;

/** The size up to which a sidecar of text is read; a larger one is refused. */
export const sidecarTextBytes = largestText + 1;

/** `start`: the first `sidecarTextBytes` bytes of a sidecar of a shapefile. */
export function judgeSidecar(ending: string, start: Uint8Array): FileProblem | undefined {
  const reason = reasonAgainst(ending, start);
  if (reason === undefined) return undefined;
  return { code: "SIDECAR_INVALID", message: `The ${ending} file beside it ${reason}.` };
}

const tableVersions = new Set([0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x83, 0x8b, 0xcb, 0xf5]);

function reasonAgainst(ending: string, start: Uint8Array): string | undefined {
  switch (ending) {
    case ".shx":
      return start[0] === 0 && start[1] === 0 && start[2] === 0x27 && start[3] === 0x0a
        ? undefined
        : "is no index of a shapefile";
    case ".dbf":
      return tableVersions.has(start[0] ?? 0) ? undefined : "is no dBASE table";
    case ".cpg":
      return /^[\w\s.:-]{0,64}$/.test(textOf(start)) ? undefined : "does not name an encoding";
    case ".prj":
      return reasonAgainstCrs(start);
    default:
      return undefined;
  }
}

function reasonAgainstCrs(start: Uint8Array): string | undefined {
  if (start.length > largestText) return "is longer than any coordinate reference system";
  const text = textOf(start);
  if (text.includes("\0") || /^\s*[<{]/.test(text)) return "is no coordinate reference system";
  const named = text.matchAll(/(?:grids|init|file)\s*=\s*([^\s"']*)/gi);
  const isPath = [...named].some(([, value = ""]) => value.includes("/"));
  return isPath || /PARAMETERFILE\s*\[[^\]]*\//i.test(text)
    ? "names a file with a grid by its path"
    : undefined;
}

function textOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes.subarray(0, largestText)) text += String.fromCharCode(byte);
  return text;
}

/** The six numbers of a world file, or undefined if it is none. */
export function readWorldFile(text: string): readonly number[] | undefined {
  const words = text.trim().split(/\s+/);
  const numbers = words.map((word) => Number(word.replace(",", ".")));
  return words.length === 6 && numbers.every(Number.isFinite) ? numbers : undefined;
}
