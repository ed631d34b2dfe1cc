-- For an administrator, where `rmhdag migrate` may not create roles. Run it with psql on the
-- database of the platform, after the migrations:
--
--   psql "$DATABASE_URL" -v login=gateway_login -v password=… -f deploy/gateway-role.sql
--
-- The gateway then connects with GATEWAY_DATABASE_URL=postgres://gateway_login:…@host:5432/name.
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rmhdag_gateway') AS is_new \gset
\if :is_new
CREATE ROLE rmhdag_gateway NOLOGIN;
\endif
GRANT USAGE ON SCHEMA gateway TO rmhdag_gateway;
GRANT SELECT ON ALL TABLES IN SCHEMA gateway TO rmhdag_gateway;
CREATE ROLE :"login" LOGIN PASSWORD :'password' IN ROLE rmhdag_gateway;
-- Everybody may make temporary tables in a new database: the gateway has no need to.
SELECT format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()) \gexec
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
