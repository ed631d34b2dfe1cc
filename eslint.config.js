import eslint from "@eslint/js";
import importPlugin from "eslint-plugin-import";
import tseslint from "typescript-eslint";

/** Each zone: files of `target` must not import from `from`, with the reason. */
const programs = ["gateway", "orchestrator", "worker", "cli"];
const zones = [
  {
    target: "./src/core",
    from: "./src",
    except: ["./core"],
    message: "core decides and touches nothing: it is pure, and the browser imports it too.",
  },
  {
    target: "./src/adapters",
    from: programs.map((program) => `./src/${program}`),
    message: "adapters serve any program, so they import none.",
  },
  {
    target: "./ui/src",
    from: "./src",
    except: ["./core"],
    message: "the browser imports only pure code: it asks the API for everything else.",
  },
  ...programs.map((program) => ({
    target: `./src/${program}`,
    from: programs.filter((other) => other !== program).map((other) => `./src/${other}`),
    message: "programs are deployed apart: they share only core/messages and core/api.",
  })),
  {
    target: "./src/gateway",
    from: "./src/adapters/postgres/repositories",
    message: "the gateway never writes: a compromised gateway must not be able to.",
  },
  {
    target: "./src/adapters/postgres/queries",
    from: "./src/adapters/postgres/repositories",
    message: "queries only read; they also run under the gateway's read-only role.",
  },
];

/** Brokers and storages of one kind, as opposed to their ports. `wiring.ts` and tests may import them. */
const concrete = [
  "./src/adapters/broker/*-broker/**",
  "./src/adapters/storage/{open,local,azure,s3}-*.ts",
];
const concreteZones = [
  "./src/!(adapters)/**",
  "./src/adapters/!(broker|storage)/**",
  "./src/adapters/{broker/broker,storage/storage}.ts",
].map((target) => ({
  target,
  from: concrete,
  message: "only a wiring.ts chooses a broker or a storage: other code uses the port.",
}));

const env = {
  object: "process",
  property: "env",
  message: "the environment is read in config.ts only, so that one place says what can be set.",
};
const clock = "time comes from runtime/clock.ts, so that a test can set it.";
const now = { object: "Date", property: "now", message: clock };
const newDate = {
  selector: ":matches(NewExpression, CallExpression)[callee.name='Date'][arguments.length=0]",
  message: clock,
};
const random = {
  object: "Math",
  property: "random",
  message: "core is pure: take randomness from an argument.",
};

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
const sql = [
  `Literal[value=/^\\s*(${statement})|\\bdagapp\\.\\w/]`,
  `TemplateElement[value.raw=/^\\s*(${statement})|\\bdagapp\\.\\w/]`,
].map((selector) => ({
  selector,
  message: "SQL stands in adapters/postgres and in the Postgres broker: write a function there.",
}));

const literalSpread = {
  selector: "ObjectExpression > SpreadElement > ObjectExpression",
  message: "write the properties themselves: a spread of a literal says nothing.",
};

export default tseslint.config(
  { ignores: ["templates", "dist/", "coverage/", "ui/dist/", "bench/peers/"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    plugins: { import: importPlugin },
    settings: {
      "import/resolver": { node: { extensions: [".ts", ".tsx", ".js"] } },
    },
    rules: {
      "import/no-restricted-paths": ["error", { zones: [...zones, ...concreteZones] }],
      "no-restricted-properties": ["error", env, now],
      "no-restricted-syntax": ["error", newDate, literalSpread, ...sql],
      "no-console": "error",
      "max-lines": ["error", { max: 500, skipBlankLines: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      // A number in a message needs no ceremony.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `async` without `await` keeps a port's methods uniform: they reject and never throw.
      "@typescript-eslint/require-await": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
    },
  },
  {
    files: ["src/core/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "^(?!\\.|zod$|@huggingface/jinja$)",
              message: "core imports zod and the template parser, nothing else.",
            },
          ],
        },
      ],
      "no-restricted-properties": ["error", env, now, random],
    },
  },
  {
    files: ["src/**/config.ts"],
    rules: { "no-restricted-properties": ["error", now] },
  },
  {
    files: ["src/adapters/runtime/clock.ts", "ui/src/shared/clock.ts"],
    rules: {
      "no-restricted-properties": ["error", env],
      "no-restricted-syntax": ["error", literalSpread, ...sql],
    },
  },
  {
    files: ["src/**/wiring.ts"],
    rules: { "import/no-restricted-paths": ["error", { zones }] },
  },
  {
    files: [
      "src/adapters/postgres/**/*.ts",
      "src/adapters/broker/postgres-broker/**/*.ts",
      // GDAL's SQL over the layers of a file, not the database's.
      "src/core/raster/transformation.ts",
      "src/core/vector/number-features.ts",
      "src/core/vector/sqlite-values.ts",
      "src/core/vector/survey.ts",
      "src/worker/handlers/vector/simplify-dissolve.ts",
    ],
    rules: { "no-restricted-syntax": ["error", newDate, literalSpread] },
  },
  {
    files: ["**/*.test.ts", "test/**/*.ts"],
    rules: {
      "import/no-restricted-paths": ["error", { zones }],
      "no-restricted-imports": "off",
      "no-restricted-properties": "off",
      "no-restricted-syntax": ["error", literalSpread],
      // In a test a missing value is a failure, and `!` says so at the right line.
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
  {
    files: ["**/*.js"],
    languageOptions: {
      globals: {
        process: "readonly",
        URL: "readonly",
        console: "readonly",
        performance: "readonly",
        fetch: "readonly",
        setTimeout: "readonly",
        TextDecoder: "readonly",
      },
    },
  },
);
