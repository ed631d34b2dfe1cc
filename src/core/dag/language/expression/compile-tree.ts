import type { Json } from "../../../model/json.ts";
import { filters, tests } from "./filters.ts";
import { tooDeep } from "./grammar.ts";
import type { Arithmetic, Ordering } from "./operators.ts";
import * as operators from "./operators.ts";
import { compilePath } from "./path.ts";
import type { Evaluate, Scope } from "./scope.ts";
import { Failure, Missing, demand, maxExpressionDepth, typeName } from "./scope.ts";
import type { ExpressionProblem } from "./tokens.ts";
import type { Compiler, FilterTree, Tree } from "./tree.ts";
import { splitName } from "./tree.ts";
import { didYouMean } from "../../suggest.ts";

/*
 * Compiles the syntax tree to closures, once: a closure for each operator evaluates several times
 * faster than walking the tree again. Everything that can be refused is refused here, while the
 * author validates the workflow.
 */

const never: Evaluate = () => {
  throw new Failure("the expression has problems and cannot be evaluated");
};

export function createCompiler(offset: number): Compiler {
  const compiler: Compiler = {
    references: [],
    problems: [],
    offset,
    compile(tree, depth, optional) {
      if (depth <= maxExpressionDepth) return compileTree(tree, compiler, depth, optional);
      const known = compiler.problems.some(({ message }) => message === tooDeep);
      return known ? never : refuse(compiler, { message: tooDeep, offset });
    },
  };
  return compiler;
}

function refuse(compiler: Compiler, problem: ExpressionProblem): Evaluate {
  compiler.problems.push(problem);
  return never;
}

/** `optional`: the surrounding expression accepts a missing value. */
function compileTree(tree: Tree, compiler: Compiler, depth: number, optional: boolean): Evaluate {
  const inner = (part: Tree): Evaluate => compiler.compile(part, depth + 1, false);
  switch (tree.type) {
    case "Identifier":
    case "MemberExpression":
      return compilePath(tree, compiler, depth, optional);
    case "IntegerLiteral":
    case "FloatLiteral":
    case "StringLiteral": {
      const { value } = tree;
      return () => value;
    }
    case "ArrayLiteral": {
      const elements = tree.value.map(inner);
      return (scope) => {
        scope.spend(1 + elements.length);
        return elements.map((element) => demand(element(scope)));
      };
    }
    case "ObjectLiteral":
      return compileObject([...tree.value].map(([key, value]) => [inner(key), inner(value)]));
    case "UnaryExpression": {
      const argument = inner(tree.argument);
      if (tree.operator.value === "not") {
        return (scope) => !operators.isTruthy(take(argument, scope), scope);
      }
      const sign = tree.operator.value === "-" ? -1 : 1;
      return (scope) => operators.arithmetic("*", take(argument, scope), sign);
    }
    case "BinaryExpression": {
      const left = inner(tree.left);
      const takesRight = tree.operator.value === "and" || tree.operator.value === "or";
      const right = compiler.compile(tree.right, depth + 1, takesRight && optional);
      return compileBinary(tree.operator.value, left, right);
    }
    case "Ternary": {
      const yes = compiler.compile(tree.trueExpr, depth + 1, optional);
      const condition = inner(tree.condition);
      const no = compiler.compile(tree.falseExpr, depth + 1, optional);
      return (scope) =>
        operators.isTruthy(take(condition, scope), scope) ? yes(scope) : no(scope);
    }
    case "TestExpression": {
      const { name, offset } = splitName(tree.test.value, compiler.offset);
      return compileTest(tree.operand, name, tree.negate, offset, compiler, depth);
    }
    case "FilterExpression":
      return compileFilter(tree, compiler, depth);
    case "SelectExpression":
      return refuse(compiler, {
        message: "an if needs its else: a if c else b",
        offset: compiler.offset,
      });
    default:
      return refuse(compiler, {
        message: "the expression uses a form that is not available",
        offset: compiler.offset,
      });
  }
}

function take(evaluate: Evaluate, scope: Scope): Json {
  scope.spend(1);
  return demand(evaluate(scope));
}

function compileObject(entries: readonly (readonly [Evaluate, Evaluate])[]): Evaluate {
  return (scope) => {
    scope.spend(1 + entries.length);
    // Unlike assignment, this makes `__proto__` a key like any other.
    return Object.fromEntries(
      entries.map(([key, value]) => {
        const name = demand(key(scope));
        if (typeof name !== "string") {
          throw new Failure(`a key must be a string, but here is ${typeName(name)}`);
        }
        return [name, demand(value(scope))];
      }),
    );
  };
}

function compileBinary(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  const both = (apply: (left: Json, right: Json, scope: Scope) => Json): Evaluate => {
    return (scope) => apply(take(left, scope), demand(right(scope)), scope);
  };
  switch (operator) {
    case "and":
    case "or":
      return (scope) => {
        const first = take(left, scope);
        return operators.isTruthy(first, scope) === (operator === "or") ? first : right(scope);
      };
    case "==":
      return both(operators.isEqual);
    case "!=":
      return both((a, b, scope) => !operators.isEqual(a, b, scope));
    case "in":
      return both(operators.isIn);
    case "not in":
      return both((a, b, scope) => !operators.isIn(a, b, scope));
    case "~":
      return both(operators.concatenate);
    case "+":
      return both(operators.add);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return both((a, b, scope) => operators.isOrdered(operator satisfies Ordering, a, b, scope));
    default:
      return both((a, b) => operators.arithmetic(operator as Arithmetic, a, b));
  }
}

function compileTest(
  operand: Tree,
  name: string,
  negate: boolean,
  offset: number,
  compiler: Compiler,
  depth: number,
): Evaluate {
  if (name === "defined" || name === "undefined") {
    const value = compiler.compile(operand, depth + 1, true);
    const expected = (name === "defined") !== negate;
    return (scope) => {
      scope.spend(1);
      return !(value(scope) instanceof Missing) === expected;
    };
  }
  const value = compiler.compile(operand, depth + 1, false);
  const test = tests.get(name);
  if (test === undefined) {
    const known = ["defined", "undefined", ...tests.keys()];
    const message = `there is no test ${name}; known are ${known.join(", ")}${didYouMean(name, known)}`;
    return refuse(compiler, { message, offset });
  }
  return (scope) => test(take(value, scope)) !== negate;
}

function compileFilter(tree: FilterTree, compiler: Compiler, depth: number): Evaluate {
  const call = tree.filter.type === "CallExpression" ? tree.filter : undefined;
  const callee = call === undefined ? tree.filter : call.callee;
  if (callee.type !== "Identifier") {
    const message =
      "a filter is a name with arguments; to use its result further, put parentheses around it";
    return refuse(compiler, { message, offset: compiler.offset });
  }
  const { name, offset } = splitName(callee.value, compiler.offset);
  const filter = filters.get(name);
  const operand = compiler.compile(tree.operand, depth + 1, filter?.optional === true);
  if (filter === undefined) {
    const known = [...filters.keys()];
    const message = `there is no filter ${name}; known are ${known.join(", ")}${didYouMean(name, known)}`;
    return refuse(compiler, { message, offset });
  }
  const args: (Evaluate | undefined)[] = [];
  for (const [index, argument] of (call?.args ?? []).entries()) {
    const keyword =
      argument.type === "KeywordArgumentExpression" && argument.key.type === "Identifier"
        ? splitName(argument.key.value, 0).name
        : undefined;
    const position = keyword === undefined ? index : filter.parameters.indexOf(keyword);
    if (position < 0 || position >= filter.parameters.length || args[position] !== undefined) {
      const takes = filter.parameters.length === 0 ? "none" : filter.parameters.join(", ");
      const message = `wrong arguments for the filter ${name}, which takes: ${takes}`;
      return refuse(compiler, { message, offset });
    }
    const value = argument.type === "KeywordArgumentExpression" ? argument.value : argument;
    args[position] = compiler.compile(value, depth + 1, false);
  }
  return filter.compile(operand, args);
}
