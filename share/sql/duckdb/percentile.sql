-- SPDX-License-Identifier: Apache-2.0
-- The 99th percentile of a histogram by a part of its key, the variable label; exact but for the width of the buckets.
WITH buckets AS (
    SELECT labels[getvariable('label')] AS part, upper, sum(value) AS n
    FROM samples
    WHERE service = getvariable('service') AND type = getvariable('type') AND begun >= getvariable('from')::TIMESTAMP AND begun < getvariable('to')::TIMESTAMP
    GROUP BY part, upper
), sums AS (
    SELECT part, upper, sum(n) OVER (PARTITION BY part ORDER BY upper) AS below, sum(n) OVER (PARTITION BY part) AS total
    FROM buckets
)
SELECT part, min(upper) AS p99, any_value(total)::BIGINT AS total
FROM sums
WHERE below >= 0.99 * total
GROUP BY part
ORDER BY p99 DESC, part;
