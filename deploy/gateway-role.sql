-- Makes the gateway's read-only role and a login for it alone, where deploy/roles.sql is not used. An
-- administrator runs it with psql on the platform's database, after the migrations:
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
CREATE ROLE :"login" LOGIN PASSWORD :'password' CONNECTION LIMIT 40 IN ROLE rmhdag_gateway;
SELECT format('ALTER ROLE %I IN DATABASE %I SET %s', :'login', current_database(), setting)
FROM unnest(ARRAY['statement_timeout = ''30s''', 'default_transaction_read_only = on']) AS setting \gexec
-- PostgreSQL lets every user make temporary tables in a new database; the gateway needs none.
SELECT format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()) \gexec
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
