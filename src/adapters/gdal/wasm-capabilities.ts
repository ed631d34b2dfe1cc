import type { GdalCapabilities } from "./gdal.ts";

/**
 * Version and capabilities of the pinned package. They are written down because asking the library
 * takes a second; a test compares them with the library's answer.
 */
export const wasmVersion = "3.8.4";

const names = (text: string) => text.trim().split(/\s*,\s*/);

export const wasmCapabilities: GdalCapabilities = {
  rasterDrivers: names(`
    VRT, DERIVED, GTiff, COG, NITF, RPFTOC, ECRGTOC, HFA, SAR_CEOS, CEOS, JAXAPALSAR, GFF,
    ELAS, ESRIC, AIG, AAIGrid, GRASSASCIIGrid, ISG, SDTS, DTED, PNG, JPEG, MEM, JDEM, GIF,
    BIGGIF, ESAT, BSB, XPM, BMP, DIMAP, AirSAR, RS2, SAFE, PCIDSK, PCRaster, ILWIS, SGI,
    SRTMHGT, Leveller, Terragen, ISIS3, ISIS2, PDS, PDS4, VICAR, TIL, ERS, L1B, FIT, GRIB,
    RMF, MSGN, RST, GSAG, GSBG, GS7BG, COSAR, TSX, COASP, R, MAP, KMLSUPEROVERLAY, WEBP,
    PDF, Rasterlite, MBTiles, CALS, SENTINEL2, MRF, PNM, DOQ1, DOQ2, PAux, MFF, MFF2, GSC,
    FAST, BT, LAN, CPG, NDF, EIR, DIPEx, LCP, GTX, LOSLAS, NTv2, CTable2, ACE2, SNODAS,
    KRO, ROI_PAC, RRASTER, BYN, NOAA_B, NSIDCbin, ARG, RIK, USGSDEM, GXF, NWT_GRD,
    NWT_GRC, ADRG, SRP, BLX, SAGA, XYZ, HF2, OZI, CTG, ZMap, NGSGEOID, IRIS, PRF, SIGDEM,
    TGA, GPKG, OpenFileGDB, CAD, GenBin, ENVI, EHdr, ISCE, Zarr`),
  vectorDrivers: names(`
    PCIDSK, PDS4, VICAR, PDF, MBTiles, ESRI Shapefile, MapInfo File, UK .NTF, LVBAG, OGR_SDTS,
    S57, DGN, OGR_VRT, Memory, CSV, GML, GPX, KML, GeoJSON, GeoJSONSeq, ESRIJSON,
    TopoJSON, OGR_GMT, GPKG, SQLite, WAsP, OpenFileGDB, DXF, CAD, FlatGeobuf, Geoconcept,
    GeoRSS, VFK, PGDUMP, OSM, OGR_PDS, EDIGEO, SVG, Idrisi, ODS, XLSX, SXF, Selafin, JML,
    VDV, MVT, MapML, GTFS, PMTiles, JSONFG, TIGER, AVCBin, AVCE00`),
  codecs: names("NONE, LZW, PACKBITS, CCITTRLE, CCITTFAX3, CCITTFAX4, DEFLATE"),
  programs: [
    "gdalinfo",
    "gdal_translate",
    "gdalwarp",
    "gdalbuildvrt",
    "gdal_rasterize",
    "gdaltransform",
    "ogrinfo",
    "ogr2ogr",
  ],
};

/** All drivers in the library, also those that `environment.ts` always leaves out. */
export const wasmDrivers: readonly string[] = [
  ...new Set([...wasmCapabilities.rasterDrivers, ...wasmCapabilities.vectorDrivers]),
  ...names("WMTS, STACTA, STACIT"),
];
