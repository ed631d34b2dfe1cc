import type { Command } from "commander";
import { Option } from "commander";
import { h3Dataset } from "../../core/api/h3.ts";
import { h3CombinedSource } from "../../core/h3/combination.ts";
import { h3Source, h3Workflows } from "../../core/h3/configuration.ts";
import { h3VectorSource } from "../../core/h3/vector-configuration.ts";
import type { CliConfig } from "../common/config.ts";
import { ago } from "../common/format.ts";
import { print, printJson, say } from "../common/output.ts";
import { watchJob } from "../watch/watch-job.ts";
import { connect } from "./connect.ts";
import { readInputFile } from "./inputs.ts";
import {
  addCommand,
  collectPages,
  limitOption,
  listCommand,
  printResult,
  wholeNumber,
} from "./define-command.ts";

interface SourceOptions {
  readonly path?: string;
  readonly collection?: string;
  readonly item?: string;
  readonly table?: string;
  readonly geoparquet?: string;
  readonly profile?: string;
  readonly configuration?: string;
}

const examples = `
Examples:
  rmhdag h3 sources add terrain --path silver/terrain.tif
  rmhdag h3 run terrain --wait
  rmhdag h3 run roads --table roads --configuration '{"category": "class"}' --wait
  rmhdag h3 run exposure --profile exposure.yaml --wait
  rmhdag h3 query terrain --bbox 5,45,11,48 --resolution 5 --stat mean
`;

export function addH3(program: Command, config: CliConfig): void {
  const h3 = program
    .command("h3")
    .description(
      "values of rasters and layers by H3 cell: what is asked for, compute it, look at it",
    )
    .addHelpText("after", examples);
  addSources(h3, config);
  const source = addCommand(h3, "run", "compute a data set; starts a job", "terrain --wait")
    .argument("<raster>", "the name of the data set")
    .option("--period <period>", "such as 2024")
    .option("--wait", "follow the job to its end");
  withSource(source).action(
    async (
      raster: string,
      options: SourceOptions & { period?: string; wait?: true; json?: true },
      command: Command,
    ) => {
      const client = connect(command, config);
      const { path, collection, item, table, geoparquet, configuration, period } = options;
      const kind = await kindOf(client, raster, options);
      const profile = await readProfile(options);
      const submitted = await client.submitJob({
        body: {
          workflow_id: h3Workflows[kind].workflow,
          inputs: {
            [h3Workflows[kind].name]: raster,
            ...(profile !== undefined && { datasets: profile.datasets }),
            ...(table !== undefined && { table_name: table }),
            ...(geoparquet !== undefined && { blob_path: geoparquet }),
            ...(path !== undefined && { blob_path: path }),
            ...(collection !== undefined && { source_collection_id: collection }),
            ...(item !== undefined && { source_item_id: item }),
            ...(period !== undefined && { period }),
            configuration: {
              ...profile?.configuration,
              ...readConfiguration(command, configuration),
            },
          },
        },
      });
      const json = options.json === true;
      if (options.wait === true) {
        await watchJob({ client, config, jobId: submitted.job_id, json });
      } else if (json) printJson(submitted);
      else {
        print(submitted.job_id);
        say(`Watch it: rmhdag jobs watch ${submitted.job_id}`);
      }
    },
  );
  const runs = h3
    .command("runs")
    .description("list computations, the newest first")
    .option("--raster <name>", "only those of this data set")
    .addOption(limitOption())
    .addHelpText("after", "\nExamples:\n  rmhdag h3 runs --raster terrain\n");
  listCommand(runs, config, {
    read: async (client, { limit, raster }: { limit: number; raster?: string }) =>
      (await client.listH3Runs({ query: { limit: Math.min(500, limit), raster } })).items,
    none: "Nothing was computed yet: rmhdag h3 run starts a computation.",
    columns: {
      RUN: (run) => run.run_id,
      DATASET: (run) => run.raster,
      KIND: (run) => run.kind,
      PERIOD: (run) => run.period,
      STATUS: (run) => run.status,
      CHUNKS: (run) => run.chunk_count,
      ROWS: (run) => run.row_count,
      STARTED: (run) => ago(run.started_at),
      JOB: (run) => run.job_id,
    },
  });
  addQuery(h3, config);
}

type Client = ReturnType<typeof connect>;

/** A profile holds the data sets, and beside them the configuration. */
async function readProfile({ profile }: SourceOptions) {
  if (profile === undefined) return undefined;
  const { datasets = {}, ...configuration } = await readInputFile(profile);
  return { datasets, configuration };
}

/** What the options name, or else what is recorded. */
async function kindOf(client: Client, name: string, options: SourceOptions) {
  if (options.profile !== undefined) return "combined";
  if (options.table !== undefined || options.geoparquet !== undefined) return "vector";
  if (options.path !== undefined || options.collection !== undefined) return "raster";
  const { items } = await client.listH3Sources({ query: { raster: name } });
  return items[0]?.kind ?? "raster";
}

function addSources(h3: Command, config: CliConfig): void {
  const sources = h3
    .command("sources")
    .description("list what is asked for, and record more")
    .addHelpText("after", "\nExamples:\n  rmhdag h3 sources list --state stale\n");
  const list = sources
    .command("list")
    .description("list data sets, those that were never computed first")
    .addOption(
      new Option("--state <state>", "only data sets in this state").choices([
        "never",
        "current",
        "stale",
        "unknown",
      ]),
    )
    .addOption(limitOption())
    .addHelpText("after", "\nExamples:\n  rmhdag h3 sources list\n");
  listCommand(list, config, {
    read: async (
      client,
      { limit, state }: { limit: number; state?: "never" | "current" | "stale" | "unknown" },
    ) => collectPages(limit, (paging) => client.listH3Sources({ query: { ...paging, state } })),
    none: "No such data sets: rmhdag h3 sources add records one.",
    columns: {
      DATASET: (each) => each.raster,
      KIND: (each) => each.kind,
      STATE: (each) => each.state,
      SOURCE: (each) => JSON.stringify(each.source),
      COMPUTED: (each) => (each.finished_at === null ? "" : ago(each.finished_at)),
    },
  });
  const add = addCommand(
    sources,
    "add",
    "record a data set, or change it",
    "terrain --path silver/terrain.tif",
  ).argument("<raster>", "the name of the data set: small letters, digits, _ and -");
  withSource(add).action(async (raster: string, options: SourceOptions, command: Command) => {
    const { path, collection, item, table, geoparquet } = options;
    const profile = await readProfile(options);
    const kind =
      profile !== undefined
        ? "combined"
        : table !== undefined || geoparquet !== undefined
          ? "vector"
          : "raster";
    const source =
      profile !== undefined
        ? h3CombinedSource.safeParse({ datasets: profile.datasets })
        : kind === "vector"
          ? h3VectorSource.safeParse({ table_name: table, blob_path: geoparquet })
          : h3Source.safeParse({ blob_path: path, collection_id: collection, item_id: item });
    if (!source.success) {
      command.error(
        "Give --path, --collection with or without --item, --table, --geoparquet, or --profile with datasets: one of them.",
      );
    }
    const given = readConfiguration(command, options.configuration);
    const configuration = { ...profile?.configuration, ...given };
    const body = { kind, source: source.data, configuration } as const;
    const saved = await connect(command, config).putH3Source({ params: { raster }, body });
    printResult(command, saved, [`${raster} is recorded. Compute it: rmhdag h3 run ${raster}`]);
  });
}

function withSource(command: Command): Command {
  return command
    .option("--path <path>", "the raster, such as silver/terrain.tif, or an https address")
    .option("--collection <id>", "a collection: each of its rasters is one period")
    .option("--item <id>", "one item of the collection")
    .option("--table <name>", "a published layer, whose features are counted or measured")
    .option("--geoparquet <path>", "a GeoParquet file instead of a layer")
    .option(
      "--profile <file>",
      "a combination of data sets: YAML with datasets, columns and others",
    )
    .option("--configuration <json>", 'such as {"max_resolution": 6, "land_only": false}');
}

function readConfiguration(command: Command, text: string | undefined): Record<string, never> {
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as Record<string, never>;
  } catch {
    return command.error(`--configuration is no JSON: ${text}`, { exitCode: 2 });
  }
}

interface QueryOptions {
  readonly bbox?: string;
  readonly resolution?: number;
  readonly stat?: string;
  readonly period?: string;
  readonly json?: true;
}

function addQuery(h3: Command, config: CliConfig): void {
  addCommand(h3, "query", "print the values of cells", "terrain --resolution 4 --stat mean")
    .argument("<dataset>")
    .option("--bbox <west,south,east,north>", "only cells that overlap this box")
    .option("--resolution <n>", "of the cells; the coarsest by default", wholeNumber(0, 15))
    .option("--stat <name>", "one column of values")
    .option("--period <period>", "the last one by default")
    .action(async (dataset: string, options: QueryOptions, command: Command) => {
      const { bbox, resolution, stat, period } = options;
      const query = {
        ...(bbox !== undefined && { bbox }),
        ...(resolution !== undefined && { resolution }),
        ...(stat !== undefined && { stat }),
        ...(period !== undefined && { period }),
      };
      const text = await connect(command, config).getH3Dataset({ params: { dataset }, query });
      const found = h3Dataset.parse(JSON.parse(text));
      const [first = {}] = found.cells;
      const lines = [first, ...found.cells].map((cell, index) =>
        (index === 0 ? Object.keys(cell) : Object.values(cell).map(show)).join("\t"),
      );
      printResult(command, found, lines);
    });
}

function show(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
