-- SPDX-License-Identifier: Apache-2.0
-- The 99th percentile of a histogram by a part of its key, the parameter label; exact but for the width of the buckets.
SELECT labels[{label:String}] AS part, quantileExactWeighted(0.99)(upper, toUInt64(value)) AS p99, sum(value) AS total
FROM samples
WHERE service = {service:String} AND type = {type:String} AND begun >= {from:DateTime} AND begun < {to:DateTime}
GROUP BY part
ORDER BY p99 DESC, part;
