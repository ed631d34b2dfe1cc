/**
 * Writes a CQL2 filter as a condition in SQL. Values are parameters, and names of properties become
 * columns only through the target, which knows them. A comparison of different types is null, as in
 * SQL, so neither `=` nor `<>` finds a property that is missing or of another type.
 */
import type { SearchGeometry } from "../../../core/geometry/geometry.ts";
import type { Comparison, Filter, Scalar, Temporal, Time } from "../../../core/cql2/ast.ts";
import { invalidFilter } from "../../../core/cql2/ast.ts";
import type { Conditions } from "./conditions.ts";

export type TermType = "json" | "number" | "text" | "boolean" | "moment";

export interface Term {
  readonly sql: string;
  readonly type: TermType;
  /** The end of a time span, whose start is `sql`. */
  readonly ends?: string;
}

export interface FilterTarget {
  /** Undefined: there is no such property. */
  property(name: string, where: Conditions): Term | undefined;
  /** A condition that holds at least for all rows whose geometry intersects this one. */
  nearTo(geometry: SearchGeometry, where: Conditions): string;
}

export function filterToSql(filter: Filter, target: FilterTarget, where: Conditions): string {
  const term = (scalar: Scalar) => toTerm(scalar, target, where);
  switch (filter.kind) {
    case "all":
    case "any": {
      const joiner = filter.kind === "all" ? " AND " : " OR ";
      return `(${filter.parts.map((part) => filterToSql(part, target, where)).join(joiner)})`;
    }
    case "not":
      return `(NOT ${filterToSql(filter.part, target, where)})`;
    case "constant":
      return filter.value ? "true" : "false";
    case "compare":
      return compare(filter.op, term(filter.left), term(filter.right));
    case "between": {
      const value = term(filter.value);
      const low = compare(">=", value, term(filter.low));
      return `(${low} AND ${compare("<=", value, term(filter.high))})`;
    }
    case "in": {
      const value = term(filter.value);
      const tests = filter.list.map((each) => compare("=", value, term(each)));
      return tests.length === 0 ? "false" : `(${tests.join(" OR ")})`;
    }
    case "like":
      return `(${as(term(filter.value), "text")} LIKE ${as(term(filter.pattern), "text")})`;
    case "is_null": {
      const { sql, type } = term(filter.value);
      return type === "json" ? `(coalesce(${sql}, 'null') = 'null')` : `(${sql} IS NULL)`;
    }
    case "temporal":
      return temporal[filter.op](
        toSpan(filter.left, target, where),
        toSpan(filter.right, target, where),
      );
    case "intersects":
      return target.nearTo(filter.geometry, where);
  }
}

function toTerm(scalar: Scalar, target: FilterTarget, where: Conditions): Term {
  switch (scalar.kind) {
    case "property":
      return demand(scalar.name, target, where);
    case "literal": {
      const { value } = scalar;
      if (typeof value === "number") {
        return { sql: `${where.value(value)}::double precision`, type: "number" };
      }
      if (typeof value === "boolean")
        return { sql: `${where.value(value)}::boolean`, type: "boolean" };
      return { sql: `${where.value(value)}::text`, type: "text" };
    }
    case "moment":
      return { sql: `${where.value(scalar.at)}::timestamptz`, type: "moment" };
    case "casei":
      return { sql: `lower(${as(toTerm(scalar.value, target, where), "text")})`, type: "text" };
    case "arithmetic": {
      const left = as(toTerm(scalar.left, target, where), "number");
      const right = as(toTerm(scalar.right, target, where), "number");
      return { sql: arithmetic(scalar.op, left, right), type: "number" };
    }
  }
}

function demand(name: string, target: FilterTarget, where: Conditions): Term {
  const term = target.property(name, where);
  if (term === undefined) throw invalidFilter(`There is no property "${name}".`);
  return term;
}

/** A result out of range is null and no error, because filter and data come from outside. */
function arithmetic(op: string, left: string, right: string): string {
  if (op === "/") return `(${left} / nullif(${right}, 0))`;
  if (op === "%")
    return `mod((${left})::numeric, nullif((${right})::numeric, 0))::double precision`;
  if (op === "^") {
    return `(CASE WHEN abs(${left}) <= 1e9 AND ${left} > 0 AND abs(${right}) <= 30 THEN (${left}) ^ (${right}) END)`;
  }
  return `(${left} ${op} ${right})`;
}

function compare(op: Comparison, left: Term, right: Term): string {
  if (left.type === "json" && right.type === "json") {
    const same = `jsonb_typeof(${left.sql}) = jsonb_typeof(${right.sql})`;
    return `(CASE WHEN ${same} THEN ${left.sql} ${op} ${right.sql} END)`;
  }
  const type = chooseType(left.type, right.type);
  return `(${as(left, type)} ${op} ${as(right, type)})`;
}

/** Text beside a time is read as a time, because JSON clients write times as text. */
function chooseType(a: TermType, b: TermType): TermType {
  if (a === b || b === "json") return a;
  if (a === "json") return b;
  if (a === "moment" || b === "moment") return "moment";
  throw invalidFilter(`A ${a} cannot be compared with a ${b}.`);
}

function as({ sql, type }: Term, wanted: TermType): string {
  if (type === wanted) return sql;
  if (type === "json") return fromJson(sql, wanted);
  if (type === "text" && wanted === "moment") return `dagapp.stac_moment(to_jsonb(${sql}))`;
  throw invalidFilter(`A ${wanted} is needed where there is a ${type}.`);
}

function fromJson(sql: string, wanted: TermType): string {
  const when = (type: string, value: string) =>
    `(CASE WHEN jsonb_typeof(${sql}) = '${type}' THEN ${value} END)`;
  switch (wanted) {
    case "number":
      return when("number", `(${sql} #>> '{}')::double precision`);
    case "text":
      return when("string", `${sql} #>> '{}'`);
    case "boolean":
      return when("boolean", `(${sql} #>> '{}')::boolean`);
    case "moment":
      return `dagapp.stac_moment(${sql})`;
    case "json":
      return sql;
  }
}

interface Span {
  readonly start: string;
  readonly end: string;
}

function toSpan(time: Time, target: FilterTarget, where: Conditions): Span {
  if (time.kind === "span") {
    return {
      start: `${where.value(time.start ?? "-infinity")}::timestamptz`,
      end: `${where.value(time.end ?? "infinity")}::timestamptz`,
    };
  }
  const term = demand(time.name, target, where);
  const start = as(term, "moment");
  return { start, end: term.ends ?? start };
}

/** Allen's interval relations, by their names in CQL2. */
const temporal: Record<Temporal, (a: Span, b: Span) => string> = {
  t_after: (a, b) => `(${a.start} > ${b.end})`,
  t_before: (a, b) => `(${a.end} < ${b.start})`,
  t_contains: (a, b) => `(${a.start} < ${b.start} AND ${a.end} > ${b.end})`,
  t_disjoint: (a, b) => `(${a.start} > ${b.end} OR ${a.end} < ${b.start})`,
  t_during: (a, b) => `(${a.start} > ${b.start} AND ${a.end} < ${b.end})`,
  t_equals: (a, b) => `(${a.start} = ${b.start} AND ${a.end} = ${b.end})`,
  t_finishedBy: (a, b) => `(${a.start} < ${b.start} AND ${a.end} = ${b.end})`,
  t_finishes: (a, b) => `(${a.start} > ${b.start} AND ${a.end} = ${b.end})`,
  t_intersects: (a, b) => `(${a.start} <= ${b.end} AND ${a.end} >= ${b.start})`,
  t_meets: (a, b) => `(${a.end} = ${b.start})`,
  t_metBy: (a, b) => `(${a.start} = ${b.end})`,
  t_overlappedBy: (a, b) =>
    `(${a.start} > ${b.start} AND ${a.start} < ${b.end} AND ${a.end} > ${b.end})`,
  t_overlaps: (a, b) =>
    `(${a.start} < ${b.start} AND ${a.end} > ${b.start} AND ${a.end} < ${b.end})`,
  t_startedBy: (a, b) => `(${a.start} = ${b.start} AND ${a.end} > ${b.end})`,
  t_starts: (a, b) => `(${a.start} = ${b.start} AND ${a.end} < ${b.end})`,
};
