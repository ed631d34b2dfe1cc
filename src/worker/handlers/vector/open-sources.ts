/** Opens the layers of a submission: of its only file, or of all files of an archive. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { partOfTask } from "../../part-of-task.ts";
import { layerIn } from "./fetch-source.ts";
import type { SourceFile } from "./fetch-source.ts";
import { ofFile } from "./refuse-file.ts";
import { openLayers } from "./open-layers.ts";
import type { GivenLayer, SourceLayer } from "./open-layers.ts";

export interface OpenedLayers {
  readonly layers: readonly OpenedSourceLayer[];
  /** Files of an archive without geometries. */
  readonly plain: readonly string[];
}

export interface OpenedSourceLayer {
  readonly layer: SourceLayer;
  readonly source: SourceFile;
  /** With a folder of its own for each file of an archive. */
  readonly context: HandlerContext;
}

export async function openSources(
  sources: readonly SourceFile[],
  given: GivenLayer,
  context: HandlerContext,
): Promise<OpenedLayers> {
  const [only, ...others] = sources;
  if (only !== undefined && others.length === 0) {
    const layers = await openLayers(only, { ...given, layer: layerIn(only, given.layer) }, context);
    return { layers: layers.map((layer) => ({ layer, source: only, context })), plain: [] };
  }
  const layers: OpenedSourceLayer[] = [];
  const plain: string[] = [];
  let refusal: unknown;
  for (const [index, source] of sources.entries()) {
    const workDir = path.join(context.workDir, "source", String(index));
    const own = partOfTask(context, { workDir });
    await mkdir(own.workDir, { recursive: true });
    const title = source.title ?? source.name;
    try {
      const opened = await openLayers(source, { ...given, layer: undefined }, own);
      for (const each of opened) {
        const name = opened.length === 1 ? title : `${title}/${each.title}`;
        layers.push({ layer: { ...each, title: name }, source, context: own });
      }
    } catch (error) {
      const isPlain = error instanceof PermanentError && error.code === "NO_GEOMETRY";
      if (!isPlain) throw ofFile(title, error);
      refusal ??= error;
      plain.push(title);
    }
  }
  if (layers.length === 0) throw refusal;
  return given.layer == null ? { layers, plain } : { layers: choose(layers, given.layer), plain };
}

function choose(layers: readonly OpenedSourceLayer[], wanted: string): OpenedSourceLayer[] {
  const found = layers.filter(({ layer }) => layer.title === wanted);
  if (found.length > 0) return found;
  const titles = layers.map(({ layer }) => layer.title);
  throw new PermanentError(
    `The archive has no layer "${wanted}"; it has: ${titles.slice(0, 100).join(", ")}.`,
    { code: "LAYER_NOT_FOUND" },
  );
}
