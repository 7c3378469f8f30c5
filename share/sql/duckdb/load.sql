-- SPDX-License-Identifier: Apache-2.0
-- Reads a file of strata -f rows, the variable file, into the tables:
--
--     duckdb profiles.db -c "SET VARIABLE file = 'x.rows.jsonl'" -f load.sql
CREATE TEMP TABLE lines AS
SELECT * FROM read_json(getvariable('file'), format = 'newline_delimited', columns = {
    "table": 'VARCHAR', begun: 'BIGINT', ended: 'BIGINT', last_seen: 'BIGINT', time: 'BIGINT',
    service: 'VARCHAR', type: 'VARCHAR', kind: 'VARCHAR', unit: 'VARCHAR', host: 'VARCHAR', version: 'VARCHAR',
    labels: 'MAP(VARCHAR, VARCHAR)', stack_id: 'UBIGINT', frames: 'VARCHAR[]', value: 'BIGINT', upper: 'BIGINT',
    number: 'UBIGINT', trace_id: 'VARCHAR', text: 'VARCHAR'
});

INSERT INTO stacks
SELECT service, stack_id, make_timestamp(max(last_seen) * 1000000), any_value(frames)
FROM lines
WHERE "table" = 'stacks' AND (service, stack_id) NOT IN (SELECT service, stack_id FROM stacks)
GROUP BY service, stack_id;

INSERT INTO samples
SELECT make_timestamp(begun * 1000000), make_timestamp(ended * 1000000), service, type, kind, unit, host, version, labels,
    coalesce(stack_id, 0), value, coalesce(upper, 0), coalesce(number, 0), coalesce(trace_id, '')
FROM lines
WHERE "table" = 'samples';

INSERT INTO logs
SELECT make_timestamp(time * 1000000), service, host, kind, text
FROM lines
WHERE "table" = 'logs';

DROP TABLE lines;
