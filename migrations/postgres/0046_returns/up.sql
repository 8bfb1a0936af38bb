-- Time of the last reactivation or rehire. Null for a person who never left, and for returns before this migration.
ALTER TABLE employees ADD COLUMN returned_at timestamptz;
-- Time at which an admin enabled the key of a person who came back.
ALTER TABLE api_keys ADD COLUMN enabled_at timestamptz;
