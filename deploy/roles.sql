-- Makes the database's roles and a login for each program. An administrator (a superuser, or on a
-- managed server its administrator) runs it with psql on the platform's database, before the first
-- `rmhdag migrate` or at any later time; it may run again, and sets the passwords anew:
--
--   createdb rmhdag
--   psql -d rmhdag -v ON_ERROR_STOP=1 -v migrator_password=… -v orchestrator_password=… \
--     -v worker_password=… -v gateway_password=… -f deploy/roles.sql
--
-- Then, on the machines of the programs:
--
--   DATABASE_URL=postgres://rmhdag_migrator_login:…@host/rmhdag       rmhdag migrate
--   DATABASE_URL=postgres://rmhdag_orchestrator_login:…@host/rmhdag   rmhdag orchestrator
--   DATABASE_URL=postgres://rmhdag_worker_login:…@host/rmhdag         rmhdag worker
--   GATEWAY_DATABASE_URL=postgres://rmhdag_gateway_login:…@host/rmhdag  rmhdag gateway
--
-- With -v suffix=_b the logins are named rmhdag_worker_login_b and so on, for a second site on the same
-- server. With -v close_databases=1 the logins of this server lose the right to connect to databases
-- that every user may connect to; all other users keep it, by a right of their own.
\if :{?suffix}
\else
\set suffix ''
\endif
\ir groups.sql

SELECT format('%s ROLE %I LOGIN PASSWORD %L CONNECTION LIMIT %s',
    CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = login) THEN 'ALTER' ELSE 'CREATE' END,
    login, password, connections)
FROM (VALUES
  ('rmhdag_migrator_login' || :'suffix', :'migrator_password', -1),
  ('rmhdag_orchestrator_login' || :'suffix', :'orchestrator_password', -1),
  ('rmhdag_worker_login' || :'suffix', :'worker_password', -1),
  ('rmhdag_gateway_login' || :'suffix', :'gateway_password', 40)
) AS logins(login, password, connections) \gexec

SELECT format(statement, login, current_database())
FROM (VALUES
  ('rmhdag_migrator_login' || :'suffix', 'GRANT rmhdag_owner TO %I'),
  ('rmhdag_orchestrator_login' || :'suffix', 'GRANT rmhdag_orchestrator TO %I'),
  ('rmhdag_worker_login' || :'suffix', 'GRANT rmhdag_worker TO %I'),
  ('rmhdag_gateway_login' || :'suffix', 'GRANT rmhdag_gateway TO %I'),
  ('rmhdag_migrator_login' || :'suffix', 'GRANT CONNECT ON DATABASE %2$I TO %1$I'),
  ('rmhdag_orchestrator_login' || :'suffix', 'GRANT CONNECT ON DATABASE %2$I TO %1$I'),
  ('rmhdag_worker_login' || :'suffix', 'GRANT CONNECT ON DATABASE %2$I TO %1$I'),
  ('rmhdag_gateway_login' || :'suffix', 'GRANT CONNECT ON DATABASE %2$I TO %1$I'),
  -- What they make belongs to the group, so that another login of the group can change it.
  ('rmhdag_migrator_login' || :'suffix', 'ALTER ROLE %I IN DATABASE %I SET role = rmhdag_owner'),
  ('rmhdag_worker_login' || :'suffix', 'ALTER ROLE %I IN DATABASE %I SET role = rmhdag_worker'),
  ('rmhdag_gateway_login' || :'suffix', 'ALTER ROLE %I IN DATABASE %I SET statement_timeout = ''30s'''),
  ('rmhdag_gateway_login' || :'suffix',
    'ALTER ROLE %I IN DATABASE %I SET default_transaction_read_only = on')
) AS statements(login, statement) \gexec

\if :{?close_databases}
\ir close-databases.sql
\endif
