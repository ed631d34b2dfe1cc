-- Takes the right to connect from PUBLIC in every other database of this server, and gives it to each
-- user who has it now, but for the platform's. Users that are made later need a right of their own:
-- GRANT CONNECT ON DATABASE … TO …. A superuser runs it; deploy/roles.sql includes it on demand.
DO $$
DECLARE
  database text;
  person text;
BEGIN
  FOR database IN
    SELECT datname FROM pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba)))
    WHERE datallowconn AND datname <> current_database() AND grantee = 0
      AND privilege_type = 'CONNECT'
  LOOP
    FOR person IN
      SELECT rolname FROM pg_roles WHERE rolcanlogin AND NOT rolsuper AND rolname NOT LIKE 'rmhdag\_%'
    LOOP
      EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', database, person);
    END LOOP;
    EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', database);
  END LOOP;
END $$;
