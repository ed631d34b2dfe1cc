-- The platform's groups in the database, and their owner's hold on its schemas. Plain SQL that may run
-- at any time, as an administrator: `rmhdag up` runs it on its embedded server, and deploy/roles.sql
-- includes it. What each group may do is granted by `rmhdag migrate`.

-- Roles belong to the whole server: another database may have made them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['rmhdag_owner', 'rmhdag_orchestrator', 'rmhdag_worker', 'rmhdag_gateway']
  LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
  -- An orchestrator may do all that a worker may, and the owner hands tables to both.
  IF NOT pg_has_role('rmhdag_orchestrator', 'rmhdag_worker', 'MEMBER') THEN
    GRANT rmhdag_worker TO rmhdag_orchestrator;
  END IF;
  IF NOT pg_has_role('rmhdag_owner', 'rmhdag_orchestrator', 'MEMBER') THEN
    GRANT rmhdag_orchestrator TO rmhdag_owner;
  END IF;
  -- Workers write the catalogue to pgstac as well, where it is installed.
  IF EXISTS (SELECT FROM pg_namespace WHERE nspname = 'pgstac')
      AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'pgstac_ingest')
      AND NOT pg_has_role('rmhdag_worker', 'pgstac_ingest', 'MEMBER') THEN
    GRANT pgstac_ingest TO rmhdag_worker;
  END IF;
  -- The administrator of a managed server is no superuser, and can give only what is his own.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT rmhdag_owner TO %I', current_user);
  END IF;
END $$;

-- Only a superuser may make this extension; a server without it goes on without it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgis') THEN
    CREATE EXTENSION IF NOT EXISTS postgis;
  END IF;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'PostGIS is not used: %', SQLERRM;
END $$;

-- Every user may connect to a new database, make temporary tables there and write large objects.
DO $$
DECLARE
  writer regprocedure;
BEGIN
  IF EXISTS (SELECT FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba)))
      WHERE datname = current_database() AND grantee = 0) THEN
    EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  END IF;
  FOR writer IN
    SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN
      ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_open', 'lo_put', 'lo_truncate',
       'lo_truncate64', 'lo_unlink', 'lowrite')
      AND has_function_privilege('rmhdag_gateway', oid, 'EXECUTE')
      -- Only a superuser may change the rights on them.
      AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', writer);
  END LOOP;
END $$;

-- The objects of a database that an earlier version made belong to the user who made them. Each is
-- given by itself: REASSIGN OWNED refuses the first superuser of a server. What a program's group owns
-- stays.
DO $$
DECLARE
  statement text;
BEGIN
  FOR statement IN
    WITH ours AS (
      SELECT oid FROM pg_namespace WHERE nspname IN ('dagapp', 'gateway', 'geo')
    ),
    others AS (
      SELECT oid FROM pg_roles
      WHERE rolname NOT IN ('rmhdag_owner', 'rmhdag_orchestrator', 'rmhdag_worker')
    )
    SELECT format('ALTER DATABASE %I OWNER TO rmhdag_owner', datname)
    FROM pg_database WHERE datname = current_database() AND datdba IN (SELECT oid FROM others)
    UNION ALL
    SELECT format('ALTER SCHEMA %I OWNER TO rmhdag_owner', nspname)
    FROM pg_namespace WHERE oid IN (SELECT oid FROM ours) AND nspowner IN (SELECT oid FROM others)
    UNION ALL
    -- Indexes and the sequences of identity columns follow their table.
    SELECT format('ALTER %s %s OWNER TO rmhdag_owner',
      CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END,
      oid::regclass)
    FROM pg_class WHERE relnamespace IN (SELECT oid FROM ours) AND relkind IN ('r', 'p', 'v', 'm')
      AND relowner IN (SELECT oid FROM others)
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO rmhdag_owner', oid::regprocedure)
    FROM pg_proc WHERE pronamespace IN (SELECT oid FROM ours) AND proowner IN (SELECT oid FROM others)
    UNION ALL
    SELECT format('ALTER TYPE %s OWNER TO rmhdag_owner', oid::regtype)
    FROM pg_type WHERE typnamespace IN (SELECT oid FROM ours) AND typtype IN ('e', 'd')
      AND typowner IN (SELECT oid FROM others)
  LOOP
    EXECUTE statement;
  END LOOP;
END $$;
