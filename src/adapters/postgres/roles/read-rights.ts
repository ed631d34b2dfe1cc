import type { Queryable } from "../queryable.ts";
import type { ProgramRole, Relation, TableRight } from "./rights.ts";
import { ownerOf, programRoles, rightsOn, schemaRights, tableRights } from "./rights.ts";

/** The driver's clients and our own database share this method. */
type Reader = Pick<Queryable, "query">;

/** A right that a role should have and has not, or has and should not have. */
export interface RightDifference {
  readonly role: ProgramRole;
  readonly schema: string;
  /** Absent: the difference is on the schema itself. */
  readonly relation?: string;
  readonly missing: readonly string[];
  readonly excess: readonly string[];
}

export interface OwnerDifference extends Relation {
  readonly owner: string;
  readonly wanted: ProgramRole;
}

export interface RightsState {
  /** Groups that the server does not have. */
  readonly missingRoles: readonly ProgramRole[];
  readonly rights: readonly RightDifference[];
  readonly owners: readonly OwnerDifference[];
}

/** Compares the rights of the groups in this database with those of rights.ts. */
export async function readRights(db: Reader): Promise<RightsState> {
  const { rows: found } = await db.query<{ role: ProgramRole }>(
    "SELECT rolname AS role FROM pg_roles WHERE rolname = ANY ($1)",
    [programRoles],
  );
  const roles = found.map(({ role }) => role);
  const [relations, schemas] = [await readRelations(db, roles), await readSchemas(db, roles)];
  const rights = relations.flatMap(({ schema, name, role, rights: has }): RightDifference[] => {
    // A layer's table belongs to the workers whole, and the orchestrator is a member of their role.
    if (schema === "geo" && role !== "rmhdag_gateway") return [];
    const wanted = rightsOn({ schema, name }, role);
    const missing = wanted.filter((right) => !has.includes(right));
    const excess = has.filter((right) => !wanted.includes(right));
    if (missing.length + excess.length === 0) return [];
    return [{ role, schema, relation: name, missing, excess }];
  });
  const owners = new Map(relations.map((each) => [`${each.schema}.${each.name}`, each]));
  return {
    missingRoles: programRoles.filter((role) => !roles.includes(role)),
    rights: [...schemas, ...rights],
    owners: [...owners.values()].flatMap(({ schema, name, kind, owner }): OwnerDifference[] => {
      const wanted = ownerOf({ schema, name });
      const differs = wanted !== undefined && wanted !== owner && /^[rp]$/.test(kind);
      return differs && roles.includes(wanted) ? [{ schema, name, owner, wanted }] : [];
    }),
  };
}

interface RelationRow extends Relation {
  readonly role: ProgramRole;
  readonly kind: string;
  readonly owner: string;
  readonly rights: readonly TableRight[];
}

async function readRelations(db: Reader, roles: readonly string[]): Promise<RelationRow[]> {
  const { rows } = await db.query<RelationRow>(
    `SELECT nspname AS schema, relname AS name, relkind::text AS kind, role,
       pg_get_userbyid(relowner) AS owner,
       ARRAY (SELECT "right" FROM unnest($2::text[]) AS "right"
              WHERE has_table_privilege(role, c.oid, "right")) AS rights
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace, unnest($1::text[]) AS role
     WHERE nspname IN ('dagapp', 'gateway', 'geo') AND relkind IN ('r', 'p', 'v', 'm')
     ORDER BY nspname, relname, role`,
    [roles, tableRights],
  );
  return rows;
}

async function readSchemas(db: Reader, roles: readonly string[]): Promise<RightDifference[]> {
  const differences: RightDifference[] = [];
  for (const [role, schema, wanted] of schemaRights) {
    if (!roles.includes(role)) continue;
    const { rows } = await db.query<{ missing: string }>(
      `SELECT "right" AS missing FROM unnest(string_to_array($3, ', ')) AS "right", pg_namespace n
       WHERE nspname = $2 AND NOT has_schema_privilege($1, n.oid, "right")`,
      [role, schema, wanted],
    );
    const missing = rows.map((row) => row.missing);
    if (missing.length > 0) differences.push({ role, schema, missing, excess: [] });
  }
  return differences;
}
