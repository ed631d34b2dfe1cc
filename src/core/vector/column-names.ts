/** The platform's own columns; an attribute of the same name is renamed. */
export const ownColumns = ["fid", "geom", "bounds", "etl_batch_id"] as const;
/** Names that clients take for the geometry or for the feature itself. */
const forClients = ["id", "geometry", "ogc_fid"];
/** Columns that every table of PostgreSQL has; it refuses others of the same name. */
const ofSystem = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];
const reserved: ReadonlySet<string> = new Set([...ownColumns, ...forClients, ...ofSystem]);
const longest = 63;

export interface NamedColumn {
  readonly source: string;
  readonly name: string;
}

/** Gives columns unique names that PostgreSQL accepts unquoted, in the order of the file. */
export function nameColumns(sources: readonly string[]): NamedColumn[] {
  const taken = new Set<string>();
  return sources.map((source) => {
    const base = sanitise(source);
    const wanted = reserved.has(base) ? `source_${base}` : base;
    const name = makeUnique(wanted, taken);
    taken.add(name);
    return { source, name };
  });
}

/** Removes accents and turns everything that is not a letter or digit into underscores. */
function sanitise(source: string): string {
  const plain = source
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  if (plain === "") return "column";
  return (/^\d/.test(plain) ? `_${plain}` : plain).slice(0, longest);
}

function makeUnique(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted.slice(0, longest);
  for (let number = 2; taken.has(name) || reserved.has(name); number++) {
    const suffix = `_${number}`;
    name = wanted.slice(0, longest - suffix.length) + suffix;
  }
  return name;
}

/** A table's name from a file's name, short enough for the suffix of a geometry type. */
export function nameTable(fileName: string): string {
  const base =
    fileName
      .split("/")
      .at(-1)
      ?.replace(/\.[^.]*$/, "") ?? "";
  const name = sanitise(base);
  return (name === "column" ? "layer" : name).slice(0, longest - "_polygons".length);
}

/** Table names of several layers of one file: the file's name and the layer's. */
export function nameLayers(file: string, layers: readonly string[]): string[] {
  const room = longest - "_polygons".length;
  const taken = new Set<string>();
  return layers.map((layer) => {
    const wanted = `${file}_${sanitise(layer)}`.slice(0, room);
    let name = wanted;
    for (let number = 2; taken.has(name); number++) {
      const suffix = `_${number}`;
      name = wanted.slice(0, room - suffix.length) + suffix;
    }
    taken.add(name);
    return name;
  });
}
