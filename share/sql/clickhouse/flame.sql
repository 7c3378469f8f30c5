-- SPDX-License-Identifier: Apache-2.0
-- The stacks of a service, for `strata show`. The parameter version may be empty: all versions.
--
--     clickhouse client --param_version '' --param_service .. <flame.sql | strata show - -o cpu.svg
SELECT frames AS stack, v AS value
FROM
    (SELECT stack_id, sum(value) AS v
     FROM samples
     WHERE service = {service:String} AND type = {type:String} AND begun >= {from:DateTime} AND begun < {to:DateTime}
         AND ({version:String} = '' OR version = {version:String})
     GROUP BY stack_id) AS a
    ANY INNER JOIN (SELECT stack_id, frames FROM stacks WHERE service = {service:String}) AS b
    USING (stack_id)
FORMAT JSONEachRow;
