-- SPDX-License-Identifier: Apache-2.0
-- The total below a function, the variable function, by service and host.
SELECT service, host, sum(value)::BIGINT AS total
FROM samples
WHERE type = getvariable('type') AND begun >= getvariable('from')::TIMESTAMP AND begun < getvariable('to')::TIMESTAMP
    AND stack_id IN (SELECT stack_id FROM stacks WHERE list_contains(frames, getvariable('function')))
GROUP BY service, host
ORDER BY total DESC, service, host;
