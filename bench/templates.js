// Evaluations per second of parsed templates and conditions. Run after `npm run build`.
import { holds, parseCondition } from "../dist/core/dag/language/condition.js";
import { parseTemplate, render } from "../dist/core/dag/language/template.js";

const nodes = new Map([
  ["validate", { status: "completed", output: { file_size_mb: 150, crs: "EPSG:4326", bands: 3 } }],
]);
const context = {
  inputs: { container: "bronze", blob: "in/scene.tif", options: { compression: "zstd" } },
  job: { job_id: "j1" },
  env: {},
  node: (id) => nodes.get(id),
};

function template(value) {
  const parsed = parseTemplate(value);
  if (!parsed.ok) throw new Error(parsed.problems[0].message);
  return () => render(parsed.template, context);
}

function condition(text) {
  const parsed = parseCondition(text, "whole");
  if (!parsed.ok) throw new Error(parsed.problems[0].message);
  return () => holds(parsed.condition, context);
}

const single = "{{ nodes.validate.output.file_size_mb }}";
const params = {
  container: "{{ inputs.container }}",
  blob: "{{ inputs.blob }}",
  target: "silver/{{ job.job_id }}/{{ inputs.blob | lower }}",
  crs: "{{ nodes.validate.output.crs }}",
  bands: "{{ nodes.validate.output.bands }}",
  compression: "{{ inputs.options.compression | default('deflate') }}",
  tiled: true,
  block_size: 512,
  overviews: [2, 4, 8, 16],
  large: "{{ nodes.validate.output.file_size_mb > 100 }}",
};

const cases = [
  ["single expression", template(single)],
  ["mixed string", template("silver/{{ job.job_id }}/{{ inputs.blob }}.tif")],
  ["condition", condition(`${single} > 100 and inputs.container == bronze`)],
  ["params of 10 keys", template(params)],
  ["parse and render", () => template(single)()],
];

const roundMs = 200;
const rounds = 5;

for (const [name, run] of cases) {
  if (!run().ok) throw new Error(`${name}: ${run().message}`);
  let best = 0;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    let count = 0;
    while (performance.now() - start < roundMs) {
      for (let index = 0; index < 1000; index += 1) run();
      count += 1000;
    }
    best = Math.max(best, (count / (performance.now() - start)) * 1000);
  }
  console.log(`${name.padEnd(20)} ${Math.round(best).toLocaleString("en").padStart(12)} /s`);
}
