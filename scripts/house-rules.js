/**
 * The rules of this repository that no linter brings, as a plugin of oxlint: which file may import
 * which, and what must not be written where. `oxlint.config.js` says in which files each holds.
 */
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");
const programs = ["gateway", "orchestrator", "worker", "cli"];

/** Each zone: files in `target` must not import files in `from`, with the reason. */
const zones = [
  {
    target: /^src\/core\//,
    from: /^src\/(?!core\/)/,
    message: "core decides and touches nothing: it is pure, and the browser imports it too.",
  },
  {
    target: /^src\/adapters\//,
    from: new RegExp(`^src/(${programs.join("|")})/`),
    message: "adapters serve any program, so they import none.",
  },
  {
    target: /^ui\/src\//,
    from: /^src\/(?!core\/)/,
    message: "the browser imports only pure code: it asks the API for everything else.",
  },
  ...programs.map((program) => ({
    target: new RegExp(`^src/${program}/`),
    from: new RegExp(`^src/(${programs.filter((other) => other !== program).join("|")})/`),
    message: "programs are deployed apart: they share only core/messages and core/api.",
  })),
  {
    target: /^src\/gateway\//,
    from: /^src\/adapters\/postgres\/repositories\//,
    message: "the gateway never writes: a compromised gateway must not be able to.",
  },
  {
    target: /^src\/adapters\/postgres\/queries\//,
    from: /^src\/adapters\/postgres\/repositories\//,
    message: "queries only read; they also run under the gateway's read-only role.",
  },
];

/** Brokers and storages of one kind, as opposed to their ports. */
const portZones = [
  {
    target:
      /^src\/(?!adapters\/(broker|storage)\/)|^src\/adapters\/(broker\/broker|storage\/storage)\.ts$/,
    from: /^src\/adapters\/(broker\/[^/]+-broker\/|storage\/(open|local|azure|s3)-[^/]*\.ts$)/,
    message: "only a wiring.ts chooses a broker or a storage: other code uses the port.",
  },
];

/** The beginning of a statement. `UPDATE ${table} SET …` begins with `UPDATE ` alone. */
const statement = [
  "SELECT\\s",
  "WITH\\s+(RECURSIVE\\s+)?[\\w$]+\\s+(AS|\\()",
  "INSERT\\s+INTO\\s",
  "UPDATE\\s+(\\S+\\s+(AS\\s+)?(\\S+\\s+)?SET\\s|$)",
  "DELETE\\s+FROM\\s",
  "TRUNCATE\\s",
  "(LISTEN|NOTIFY)\\s",
  "(CREATE|ALTER|DROP)\\s+(TABLE|INDEX|VIEW|SCHEMA|ROLE|FUNCTION|TRIGGER|TYPE|DATABASE)\\s",
].join("|");
const sql = new RegExp(`^\\s*(${statement})|\\bdagapp\\.\\w`);

/** Reports each import of a file in `target` from `from`, and each export of what is there. */
function zoneRule(forbidden) {
  return importRule((file, specifier) => {
    if (!specifier.startsWith(".")) return [];
    const imported = path.posix.join(path.posix.dirname(file), specifier);
    return forbidden
      .filter(({ target, from }) => target.test(file) && from.test(imported))
      .map(({ message }) => message);
  });
}

/** `judge` answers what is wrong with an import: the file's name from the root on, and what it imports. */
function importRule(judge) {
  return {
    create(context) {
      const file = path.relative(root, context.physicalFilename).replaceAll("\\", "/");
      const check = ({ source }) => {
        if (typeof source?.value !== "string") return;
        for (const message of judge(file, source.value)) context.report({ node: source, message });
      };
      return {
        ImportDeclaration: check,
        ExportNamedDeclaration: check,
        ExportAllDeclaration: check,
        ImportExpression: check,
        TSImportType: check,
      };
    },
  };
}

function syntaxRule(selector, message) {
  return { create: (context) => ({ [selector]: (node) => context.report({ node, message }) }) };
}

export default {
  meta: { name: "house" },
  rules: {
    zones: zoneRule(zones),
    ports: zoneRule(portZones),
    "pure-imports": importRule((_file, specifier) =>
      /^\.|^zod$|^@huggingface\/jinja$/.test(specifier)
        ? []
        : ["core imports zod and the template parser, nothing else."],
    ),
    "no-new-date": syntaxRule(
      ":matches(NewExpression, CallExpression)[callee.name='Date'][arguments.length=0]",
      "time comes from runtime/clock.ts, so that a test can set it.",
    ),
    "no-literal-spread": syntaxRule(
      "ObjectExpression > SpreadElement > ObjectExpression",
      "write the properties themselves: a spread of a literal says nothing.",
    ),
    "no-sql": {
      create(context) {
        const message =
          "SQL stands in adapters/postgres and in the Postgres broker: write a function there.";
        const check = (node, text) => {
          if (typeof text === "string" && sql.test(text)) context.report({ node, message });
        };
        return {
          Literal: (node) => check(node, node.value),
          TemplateElement: (node) => check(node, node.value.raw),
        };
      },
    },
  },
};
