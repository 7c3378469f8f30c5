-- SPDX-License-Identifier: Apache-2.0
-- The functions whose totals differ most between two versions of a service, the parameters before and after.
SELECT function, sum(x) AS old, sum(y) AS new
FROM (
    SELECT frames, x, y FROM
    (SELECT stack_id, sumIf(value, version = {before:String}) AS x, sumIf(value, version = {after:String}) AS y
     FROM samples
     WHERE service = {service:String} AND type = {type:String} AND begun >= {from:DateTime} AND begun < {to:DateTime}
     GROUP BY stack_id) AS a
    ANY INNER JOIN (SELECT stack_id, frames FROM stacks WHERE service = {service:String}) AS b
    USING (stack_id)
)
ARRAY JOIN arrayDistinct(frames) AS function
GROUP BY function
ORDER BY abs(new - old) DESC, function
LIMIT 1000;
