-- SPDX-License-Identifier: Apache-2.0
-- The tables for strata -f rows. Rows go into `rows`, which keeps nothing and passes each line on to its table:
--
--     clickhouse client --multiquery <tables.sql
--     strata -f rows --window 10s x.bt | clickhouse client -q 'INSERT INTO rows FORMAT JSONEachRow'
CREATE TABLE stacks (
    service LowCardinality(String),
    stack_id UInt64,                 -- a hash of the frames
    last_seen DateTime,
    frames Array(LowCardinality(String)) CODEC(ZSTD(1)), -- the innermost first
    INDEX of_frames frames TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree(last_seen) ORDER BY (service, stack_id)
SETTINGS index_granularity = 1024;

CREATE TABLE samples (
    begun DateTime CODEC(DoubleDelta, ZSTD(1)),
    ended DateTime CODEC(DoubleDelta, ZSTD(1)),
    service LowCardinality(String),
    type LowCardinality(String),     -- the name of the map
    kind LowCardinality(String),     -- count, sum, number, min, max, avg, stats, hist, lhist
    unit LowCardinality(String),
    host LowCardinality(String),
    version LowCardinality(String),
    labels Map(LowCardinality(String), LowCardinality(String)) CODEC(ZSTD(1)),
    stack_id UInt64 CODEC(ZSTD(1)),  -- 0: none
    value Int64 CODEC(T64, ZSTD(1)), -- of avg and stats the sum, of hist and lhist the number in the bucket
    upper Int64 CODEC(T64, ZSTD(1)), -- the largest value of the bucket
    number UInt64 CODEC(T64, ZSTD(1)), -- of avg and stats the number of values
    trace_id String CODEC(ZSTD(1)),
    INDEX of_trace trace_id TYPE bloom_filter(0.001) GRANULARITY 4
) ENGINE = MergeTree PARTITION BY toDate(begun) ORDER BY (service, type, begun, stack_id)
TTL begun + INTERVAL 30 DAY;

CREATE TABLE logs (
    time DateTime CODEC(DoubleDelta, ZSTD(1)),
    service LowCardinality(String),
    host LowCardinality(String),
    kind LowCardinality(String),     -- printf, lost, warnf ..
    text String CODEC(ZSTD(1))
) ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (service, time)
TTL time + INTERVAL 30 DAY;

CREATE TABLE rows (
    `table` String, begun DateTime, ended DateTime, last_seen DateTime, time DateTime,
    service String, type String, kind String, unit String, host String, version String,
    labels Map(String, String),
    stack_id UInt64, frames Array(String), value Int64, upper Int64, number UInt64, trace_id String, text String
) ENGINE = Null;

CREATE MATERIALIZED VIEW rows_stacks TO stacks AS
SELECT service, stack_id, last_seen, frames FROM rows WHERE `table` = 'stacks';

CREATE MATERIALIZED VIEW rows_samples TO samples AS
SELECT begun, ended, service, type, kind, unit, host, version,
    labels,
    stack_id, value, upper, number, trace_id
FROM rows WHERE `table` = 'samples';

CREATE MATERIALIZED VIEW rows_logs TO logs AS
SELECT time, service, host, kind, text FROM rows WHERE `table` = 'logs';
