-- SPDX-License-Identifier: Apache-2.0
-- The functions of a service with the largest totals.
--
--     clickhouse client --param_service shop --param_type cpu --param_from '2026-01-01 00:00:00' --param_to .. <functions.sql
SELECT function, sum(v) AS total
FROM (
    SELECT frames, v FROM
    (SELECT stack_id, sum(value) AS v
     FROM samples
     WHERE service = {service:String} AND type = {type:String} AND begun >= {from:DateTime} AND begun < {to:DateTime}
     GROUP BY stack_id) AS a
    ANY INNER JOIN (SELECT stack_id, frames FROM stacks WHERE service = {service:String}) AS b
    USING (stack_id)
)
ARRAY JOIN arrayDistinct(frames) AS function
GROUP BY function
ORDER BY total DESC, function
LIMIT 1000;
