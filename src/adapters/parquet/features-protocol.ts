/** What confined-features.ts and its process send each other. */
import type { ParquetRefusal } from "./parquet-error.ts";
import type { FeatureFile, ParquetFeature, WantedFeatures } from "./read-features.ts";

/** To the process that decodes: the request, then the answers in the order of the questions. */
export type FeaturesQuestion =
  | { readonly kind: "read"; readonly bytes: number; readonly wanted: WantedFeatures | undefined }
  | { readonly kind: "range"; readonly content: Uint8Array }
  | { readonly kind: "more" };

export type FeaturesAnswer =
  | { readonly kind: "range"; readonly offset: number; readonly length: number }
  | { readonly kind: "about"; readonly about: FeatureFile }
  | { readonly kind: "features"; readonly features: readonly ParquetFeature[] }
  | { readonly kind: "end" }
  | ParquetRefusal;

/** A larger part is asked for in pieces. */
export const largestPiece = 8 * 1024 * 1024;
