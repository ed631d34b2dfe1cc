/**
 * Systems that rasters of public agencies come in, beside those that proj4 knows by itself (web
 * mercator, UTM on WGS 84, polar UPS). Any other needs its WKT in the catalogue. The Swiss ones are
 * here for another reason too: proj4 reads their WKT2 as an ordinary oblique Mercator, 130 km off.
 */
const laea = "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80 +units=m";
const swiss = "+proj=somerc +lat_0=46.9524055555556 +lon_0=7.43958333333333 +k_0=1 +ellps=bessel";
const swissShift = "+towgs84=674.374,15.056,405.346,0,0,0,0 +units=m";
const albers = "+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +ellps=GRS80 +units=m";

const known = new Map<number, string>([
  [2056, `${swiss} +x_0=2600000 +y_0=1200000 ${swissShift}`],
  [21781, `${swiss} +x_0=600000 +y_0=200000 ${swissShift}`],
  [3035, laea],
  [
    3034,
    "+proj=lcc +lat_0=52 +lon_0=10 +lat_1=35 +lat_2=65 +x_0=4000000 +y_0=2800000 +ellps=GRS80",
  ],
  [
    2154,
    "+proj=lcc +lat_0=46.5 +lon_0=3 +lat_1=49 +lat_2=44 +x_0=700000 +y_0=6600000 +ellps=GRS80",
  ],
  [
    27700,
    "+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +ellps=airy +towgs84=446.448,-125.157,542.06,0.15,0.247,0.842,-20.489 +units=m",
  ],
  [
    28992,
    "+proj=sterea +lat_0=52.1561605555556 +lon_0=5.38763888888889 +k=0.9999079 +x_0=155000 +y_0=463000 +ellps=bessel +towgs84=565.4171,50.3319,465.5524,-0.398957,0.343988,-1.8774,4.0725 +units=m",
  ],
  [3031, "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=0 +ellps=WGS84 +units=m"],
  [3413, "+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +ellps=WGS84 +units=m"],
  [3395, "+proj=merc +lon_0=0 +k=1 +ellps=WGS84 +units=m"],
  [5070, albers],
  [3577, "+proj=aea +lat_0=0 +lon_0=132 +lat_1=-18 +lat_2=-36 +ellps=GRS80 +units=m"],
  [3979, "+proj=lcc +lat_0=49 +lon_0=-95 +lat_1=49 +lat_2=77 +ellps=GRS80 +units=m"],
  [2193, "+proj=tmerc +lat_0=0 +lon_0=173 +k=0.9996 +x_0=1600000 +y_0=10000000 +ellps=GRS80"],
  [6933, "+proj=cea +lat_ts=30 +lon_0=0 +ellps=WGS84 +units=m"],
]);

/** UTM on ETRS89 and on NAD83, which differ from WGS 84 by less than a pixel of any map. */
const utmFamilies = [
  { from: 25828, to: 25838, firstZone: 28 },
  { from: 26901, to: 26923, firstZone: 1 },
];

export function findKnownSystem(code: number): string | undefined {
  const family = utmFamilies.find(({ from, to }) => code >= from && code <= to);
  if (family === undefined) {
    const definition = known.get(code);
    // Left out they are NaN to proj4, and so is everything behind them.
    if (definition === undefined || definition.includes("+x_0=")) return definition;
    return `${definition} +x_0=0 +y_0=0`;
  }
  return `+proj=utm +zone=${code - family.from + family.firstZone} +ellps=GRS80 +units=m`;
}
