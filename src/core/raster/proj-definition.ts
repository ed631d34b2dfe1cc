/**
 * Writes the definition of a coordinate reference system as a PROJ string. The library that projects
 * tiles reads WKT2 itself, and reads many of its methods wrongly or not at all: an oblique Mercator
 * 128 km off, web Mercator without a code 21 km off.
 */
import type { RasterCrs } from "./facts.ts";
import { meaningOf } from "./crs.ts";
import type { CrsMeaning } from "./crs.ts";

export interface ProjDefinition {
  /** PROJ parameters; coordinates are x to the east and y to the north, in units of the system. */
  readonly text: string;
  readonly isGeographic: boolean;
  /** Degrees in one unit of a geographic system; 1 for a projected system. */
  readonly unit: number;
  /** How the coordinates of a file are counted. */
  readonly axes: "east-north" | "west-south" | "south-west";
}

const oneDegree = Math.PI / 180;

/** Geocentric metres from the system's datum to WGS 84, where they are known. */
export type DatumShift = readonly [number, number, number];

/** Undefined: the method is not known here. */
export function projDefinition(
  wkt2: string,
  shift: DatumShift | null = null,
): ProjDefinition | undefined {
  const crs: RasterCrs = { code: null, name: "", wkt2 };
  const meaning = meaningOf(crs);
  if (meaning === undefined || !(meaning.semiMajorAxis > 0)) return undefined;
  const figure = figureOf(meaning, shift);
  if (meaning.kind === "geographic") {
    const text = `+proj=longlat ${figure}`;
    return { text, isGeographic: true, unit: meaning.unit / oneDegree, axes: "east-north" };
  }
  const projection = meaning.kind === "projected" ? projectionOf(meaning) : undefined;
  if (projection === undefined) return undefined;
  const text = `${projection} ${figure} +to_meter=${meaning.unit}`;
  const axes = axesOf(meaning);
  return { text, isGeographic: false, unit: 1, axes };
}

function figureOf(meaning: CrsMeaning, shift: DatumShift | null): string {
  const { semiMajorAxis: a, inverseFlattening: rf, primeMeridian } = meaning;
  return [
    `+a=${a}`,
    // A sphere has an inverse flattening of 0 in WKT.
    rf > 0 ? `+rf=${rf}` : `+b=${a}`,
    `+pm=${primeMeridian / oneDegree}`,
    ...(shift === null ? [] : [`+towgs84=${shift.join(",")}`]),
  ].join(" ");
}

function axesOf({ axes }: CrsMeaning): ProjDefinition["axes"] {
  if (axes[0] === "west" && axes[1] === "south") return "west-south";
  return axes[0] === "south" && axes[1] === "west" ? "south-west" : "east-north";
}

type Writer = (read: (...names: readonly string[]) => number) => string;

const origin = ["latitudeofnaturalorigin", "latitudeoforigin", "latitudeoffalseorigin"] as const;
const meridian = [
  "longitudeofnaturalorigin",
  "longitudeoffalseorigin",
  "longitudeoforigin",
  "centralmeridian",
] as const;
const scale = ["scalefactoratnaturalorigin", "scalefactor"] as const;
const firstParallel = [
  "latitudeof1ststandardparallel",
  "latitudeofstandardparallel",
  "standardparallel1",
] as const;
const secondParallel = ["latitudeof2ndstandardparallel", "standardparallel2"] as const;

/** The parts that most projections have; angles in degrees. */
const centred =
  (name: string): Writer =>
  (read) =>
    `+proj=${name} +lat_0=${read(...origin)} +lon_0=${read(...meridian)}`;
const conic =
  (name: string): Writer =>
  (read) =>
    `${centred(name)(read)} +lat_1=${read(...firstParallel)} +lat_2=${read(...secondParallel)}`;
const scaled =
  (name: string): Writer =>
  (read) =>
    `${centred(name)(read)} +k_0=${read(...scale)}`;
const standard =
  (name: string): Writer =>
  (read) =>
    `+proj=${name} +lat_ts=${read(...firstParallel)} +lon_0=${read(...meridian)}`;
const oblique =
  (isFromCentre: boolean): Writer =>
  (read) => {
    const [latitude, longitude] = [
      read("latitudeofprojectioncentre"),
      read("longitudeofprojectioncentre"),
    ];
    const azimuth = read("azimuthatprojectioncentre", "azimuthofinitialline");
    const factor = read("scalefactoratprojectioncentre", "scalefactoroninitialline");
    const angle = read("anglefromrectifiedtoskewgrid");
    const start = `+lat_0=${latitude} +k_0=${factor}`;
    // The Swiss and Hungarian grids: the library's oblique Mercator cannot have an azimuth of 90°.
    if (isFromCentre && Math.abs(azimuth - 90) < 1e-9) {
      return `+proj=somerc ${start} +lon_0=${longitude}`;
    }
    const ends = isFromCentre ? "" : " +no_uoff";
    return `+proj=omerc ${start} +lonc=${longitude} +alpha=${azimuth} +gamma=${angle}${ends}`;
  };

/** By the method's name in WKT2, without spaces and signs. */
const writers: Readonly<Record<string, Writer>> = {
  transversemercator: scaled("tmerc"),
  transversemercatorsouthorientated: scaled("tmerc"),
  mercatorvarianta: scaled("merc"),
  mercator1sp: scaled("merc"),
  mercatorvariantb: standard("merc"),
  lambertconicconformal1sp: (read) => `${scaled("lcc")(read)} +lat_1=${read(...origin)}`,
  lambertconicconformal2sp: conic("lcc"),
  albersequalarea: conic("aea"),
  equidistantconic: conic("eqdc"),
  lambertazimuthalequalarea: centred("laea"),
  lambertazimuthalequalareaspherical: centred("laea"),
  lambertcylindricalequalarea: standard("cea"),
  lambertcylindricalequalareaspherical: standard("cea"),
  equidistantcylindrical: standard("eqc"),
  equidistantcylindricalspherical: standard("eqc"),
  polarstereographicvarianta: (read) => `${scaled("stere")(read)} +lat_ts=${read(...origin)}`,
  polarstereographicvariantb: (read) => {
    const parallel = read(...firstParallel);
    const pole = parallel < 0 ? -90 : 90;
    return `+proj=stere +lat_0=${pole} +lat_ts=${parallel} +lon_0=${read(...meridian)}`;
  },
  obliquestereographic: scaled("sterea"),
  stereographic: scaled("stere"),
  americanpolyconic: centred("poly"),
  cassinisoldner: centred("cass"),
  modifiedazimuthalequidistant: centred("aeqd"),
  azimuthalequidistant: centred("aeqd"),
  hotineobliquemercatorvarianta: oblique(false),
  hotineobliquemercatorvariantb: oblique(true),
  mollweide: centred("moll"),
  sinusoidal: centred("sinu"),
  robinson: centred("robin"),
  equalearth: centred("eqearth"),
  millercylindrical: centred("mill"),
  krovak: (read) => krovak(read),
  krovaknorthorientated: (read) => krovak(read),
  geostationarysatellitesweepy: (read) => geostationary(read, "y"),
  geostationarysatellitesweepx: (read) => geostationary(read, "x"),
};

function krovak(read: Parameters<Writer>[0]): string {
  const [latitude, longitude] = [read("latitudeofprojectioncentre"), read("longitudeoforigin")];
  const factor = read("scalefactoronpseudostandardparallel");
  return `+proj=krovak +lat_0=${latitude} +lon_0=${longitude} +k=${factor}`;
}

function geostationary(read: Parameters<Writer>[0], sweep: "x" | "y"): string {
  return `+proj=geos +sweep=${sweep} +h=${read("satelliteheight")} +lon_0=${read(...meridian)}`;
}

const factors = new Set<string>([
  ...scale,
  "scalefactoratprojectioncentre",
  "scalefactoroninitialline",
  "scalefactoronpseudostandardparallel",
  "satelliteheight",
]);

function projectionOf({ method, parameters }: CrsMeaning): string | undefined {
  const writer = Object.hasOwn(writers, method) ? writers[method] : undefined;
  if (writer === undefined) return undefined;
  const read = (...names: readonly string[]) => {
    const name = names.find((each) => parameters.has(each));
    const isScale = names.some((each) => factors.has(each) && each !== "satelliteheight");
    if (name === undefined) return isScale ? 1 : 0;
    const value = parameters.get(name) ?? 0;
    return factors.has(name) ? value : toDegrees(value);
  };
  const metres = (...names: readonly string[]) => {
    const name = names.find((each) => parameters.has(each));
    return name === undefined ? 0 : (parameters.get(name) ?? 0);
  };
  const east = metres("falseeasting", "eastingatfalseorigin", "eastingatprojectioncentre");
  const north = metres("falsenorthing", "northingatfalseorigin", "northingatprojectioncentre");
  return `${writer(read)} +x_0=${east} +y_0=${north}`;
}

/** Without the noise of radians: 46.9524055555556 and not 46.95240555555559. */
function toDegrees(radians: number): number {
  return Number((radians / oneDegree).toFixed(12));
}
