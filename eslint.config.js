import eslint from "@eslint/js";
import importPlugin from "eslint-plugin-import";
import tseslint from "typescript-eslint";

/** Each zone: who (target) must not import what (from), and why. */
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
    message: "adapters touch the world for any program, so they know of none.",
  },
  {
    target: "./ui/src",
    from: "./src",
    except: ["./core"],
    message: "the browser has only what is pure: everything else is asked for over the API.",
  },
  ...programs.map((program) => ({
    target: `./src/${program}`,
    from: programs.filter((other) => other !== program).map((other) => `./src/${other}`),
    message: "programs are deployed apart: they meet only in core/messages and core/api.",
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

const env = {
  object: "process",
  property: "env",
  message: "the environment is read in config.ts only, so that one place says what can be set.",
};
const now = {
  object: "Date",
  property: "now",
  message: "time comes from runtime/clock.ts, so that a test can say what time it is.",
};
const newDate = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: now.message,
};
const random = {
  object: "Math",
  property: "random",
  message: "core is pure: take randomness from an argument.",
};

export default tseslint.config(
  { ignores: ["dist/", "coverage/", "ui/dist/", "bench/peers/"] },
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
      "import/no-restricted-paths": ["error", { zones }],
      "no-restricted-properties": ["error", env, now],
      "no-restricted-syntax": ["error", newDate],
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
    files: ["src/**/config.ts", "src/adapters/runtime/clock.ts", "ui/src/shared/clock.ts"],
    rules: { "no-restricted-properties": "off", "no-restricted-syntax": "off" },
  },
  {
    files: ["**/*.test.ts", "test/**/*.ts"],
    rules: {
      "no-restricted-imports": "off",
      "no-restricted-properties": "off",
      "no-restricted-syntax": "off",
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
