-- SPDX-License-Identifier: Apache-2.0
-- load.lua - what wrk asks of server.js: half in JSON, half in HTML.
request = function()
    return wrk.format("POST", "/", nil, string.format('{"from":%d,"count":%d,"json":%d}',
        math.random(0, 9999), math.random(20, 59), math.random(0, 1)))
end
