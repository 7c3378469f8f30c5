-- SPDX-License-Identifier: Apache-2.0
-- The functions whose totals differ most between two versions of a service, the variables before and after.
SELECT function, sum(x)::BIGINT AS old, sum(y)::BIGINT AS new
FROM (
    SELECT unnest(list_distinct(frames)) AS function, x, y FROM
    (SELECT stack_id, coalesce(sum(value) FILTER (WHERE version = getvariable('before')), 0) AS x,
         coalesce(sum(value) FILTER (WHERE version = getvariable('after')), 0) AS y
     FROM samples
     WHERE service = getvariable('service') AND type = getvariable('type') AND begun >= getvariable('from')::TIMESTAMP AND begun < getvariable('to')::TIMESTAMP
     GROUP BY stack_id)
    JOIN (SELECT stack_id, frames FROM stacks WHERE service = getvariable('service'))
    USING (stack_id)
)
GROUP BY function
ORDER BY abs(sum(y) - sum(x)) DESC, function
LIMIT 1000;
