-- SPDX-License-Identifier: Apache-2.0
-- The total below a function, the parameter function, by service and host.
SELECT service, host, sum(value) AS total
FROM samples
WHERE type = {type:String} AND begun >= {from:DateTime} AND begun < {to:DateTime}
    AND stack_id IN (SELECT stack_id FROM stacks WHERE has(frames, {function:String}))
GROUP BY service, host
ORDER BY total DESC, service, host;
