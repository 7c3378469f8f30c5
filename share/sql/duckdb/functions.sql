-- SPDX-License-Identifier: Apache-2.0
-- The functions of a service with the largest totals.
--
--     duckdb profiles.db -c "SET VARIABLE service = 'shop'; SET VARIABLE type = 'cpu'; SET VARIABLE \"from\" = '2026-01-01'; .."
--         -f functions.sql
SELECT function, sum(v)::BIGINT AS total
FROM (
    SELECT unnest(list_distinct(frames)) AS function, v FROM
    (SELECT stack_id, sum(value) AS v
     FROM samples
     WHERE service = getvariable('service') AND type = getvariable('type') AND begun >= getvariable('from')::TIMESTAMP AND begun < getvariable('to')::TIMESTAMP
     GROUP BY stack_id)
    JOIN (SELECT stack_id, frames FROM stacks WHERE service = getvariable('service'))
    USING (stack_id)
)
GROUP BY function
ORDER BY total DESC, function
LIMIT 1000;
