-- SPDX-License-Identifier: Apache-2.0
-- The tables for strata -f rows; load.sql fills them:
--
--     duckdb profiles.db -init tables.sql -c .tables
CREATE TABLE IF NOT EXISTS stacks (
    service VARCHAR,
    stack_id UBIGINT,    -- a hash of the frames
    last_seen TIMESTAMP,
    frames VARCHAR[]     -- the innermost first
);

CREATE TABLE IF NOT EXISTS samples (
    begun TIMESTAMP,
    ended TIMESTAMP,
    service VARCHAR,
    type VARCHAR,        -- the name of the map
    kind VARCHAR,        -- count, sum, number, min, max, avg, stats, hist, lhist
    unit VARCHAR,
    host VARCHAR,
    version VARCHAR,
    labels MAP(VARCHAR, VARCHAR),
    stack_id UBIGINT,    -- 0: none
    value BIGINT,        -- of avg and stats the sum, of hist and lhist the number in the bucket
    upper BIGINT,        -- the largest value of the bucket
    number UBIGINT,      -- of avg and stats the number of values
    trace_id VARCHAR
);

CREATE TABLE IF NOT EXISTS logs (
    time TIMESTAMP,
    service VARCHAR,
    host VARCHAR,
    kind VARCHAR,        -- printf, lost, warnf ..
    text VARCHAR
);
