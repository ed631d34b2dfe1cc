import type { Command } from "commander";
import { inspectCog } from "../../adapters/cog/inspect-cog.ts";
import type { CogFinding, CogVerdict } from "../../core/raster/validate-cog.ts";
import { stripControlCharacters, plural } from "../common/format.ts";
import { print, printJson } from "../common/output.ts";

interface Options {
  readonly json?: true;
  readonly strict?: true;
}

const examples = `
Examples:
  rmhdag cog validate dem.tif                  list what makes it not cloud-optimised
  rmhdag cog validate *.tif --strict --json    warnings count as errors; for a script

The rules are those of GDAL's validate_cloud_optimized_geotiff; GDAL is not needed.
Exit status: 0 when all files are valid, 1 when one is not, 2 for wrong usage.
`;

export function addCog(program: Command): void {
  const cog = program.command("cog").description("check cloud-optimised GeoTIFFs");
  cog
    .command("validate")
    .description("check the structure of files, block by block")
    .argument("<files...>", "GeoTIFF files")
    .option("--json", "print the verdicts as a JSON array")
    .option("--strict", "count warnings as errors")
    .addHelpText("after", examples)
    .action(async (files: string[], { json, strict }: Options) => {
      const verdicts = [];
      for (const file of files) {
        const { errors, warnings, valid } = await inspectCog(file);
        const isValid = valid && (strict !== true || warnings.length === 0);
        verdicts.push({ file, valid: isValid, errors, warnings });
      }
      if (json === true) printJson(verdicts);
      else for (const verdict of verdicts) printVerdict(verdict);
      if (verdicts.some(({ valid }) => !valid)) process.exitCode = 1;
    });
}

function printVerdict(verdict: CogVerdict & { readonly file: string }): void {
  const { file, valid, errors, warnings } = verdict;
  const counts = [
    ...(errors.length > 0 ? [plural(errors.length, "error")] : []),
    ...(warnings.length > 0 ? [plural(warnings.length, "warning")] : []),
  ];
  const more = counts.length > 0 ? ` (${counts.join(", ")})` : "";
  print(`${stripControlCharacters(file)}: ${valid ? "a valid COG" : "not a valid COG"}${more}`);
  const line = (mark: string) => (finding: CogFinding) => {
    print(`  ${mark}${finding.code} ${stripControlCharacters(finding.message)}`);
  };
  errors.forEach(line(""));
  warnings.forEach(line("warning: "));
}
