-- NOT RUN ON CITUS: no distributed engine could be installed where Holdfast is built. What the tests hold instead:
-- each key and each statement begins with the organisation, and no plan reads two partitions of one table.
--
-- Spreads the tables of organisations over the workers of a Citus cluster (12 or later, PostgreSQL 16 or later), with
-- pgvector 0.8 or later on every node. Run it once on the coordinator, as the owner of the tables, in an empty database:
--
--   1. as superuser, on every node:  CREATE EXTENSION citus; CREATE EXTENSION vector; CREATE ROLE holdfast_app;
--   2. create the tables without partitions of ours, because each shard would have them all:
--        HOLDFAST_STORE='postgresql://…/holdfast?partitions=0' holdfast serve check
--   3. psql -v ON_ERROR_STOP=1 -f citus.sql
--   4. ALTER ROLE <role of the servers> SET citus.propagate_set_commands = 'local';
--      what a transaction sets (`holdfast.org`, its role) has to reach the workers, which check the row-level policies.
--   5. start the servers with the same URL.

SELECT create_reference_table('migrations');
SELECT create_reference_table('organisations');
SELECT create_reference_table('placements');

-- Each table whose first column of the key is `org`, in the order of their names; the first one sets the shards.
DO $$
DECLARE
    name text;
    first text;
BEGIN
    FOR name IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attname = 'org'
            AND NOT a.attisdropped
        ORDER BY c.relname
    LOOP
        IF first IS NULL THEN
            PERFORM create_distributed_table(name, 'org', colocate_with => 'none');
            first := name;
        ELSE
            PERFORM create_distributed_table(name, 'org', colocate_with => first);
        END IF;
    END LOOP;
END $$;
