-- SPDX-License-Identifier: Apache-2.0
-- The stacks of a service, for `strata show`. The variable version may be empty: all versions.
--
--     duckdb profiles.db -c "SET VARIABLE .." -f flame.sql | strata show - -o cpu.svg
COPY (
    SELECT frames AS stack, v AS value
    FROM
    (SELECT stack_id, sum(value)::BIGINT AS v
     FROM samples
     WHERE service = getvariable('service') AND type = getvariable('type') AND begun >= getvariable('from')::TIMESTAMP AND begun < getvariable('to')::TIMESTAMP
         AND (getvariable('version') = '' OR version = getvariable('version'))
     GROUP BY stack_id)
    JOIN (SELECT stack_id, frames FROM stacks WHERE service = getvariable('service'))
    USING (stack_id)
) TO '/dev/stdout' (FORMAT json);
