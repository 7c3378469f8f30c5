-- SPDX-License-Identifier: Apache-2.0
-- shop.lua - the Lua of web.conf: requests that sort, replace text and price articles, in a coroutine, too.
local shop = {}
local spent = { sorted = 0, replaced = 0, priced = 0 }

local function by(a, b)
    if a.price == b.price then return a.name < b.name end
    return a.price < b.price
end

function shop.sorted(n)
    local rows = {}
    for i = 1, 300 do
        rows[i] = { name = 'article ' .. (i * 7919 + n) % 1000, price = (i * 31 + n) % 97 }
    end
    table.sort(rows, by)
    return #rows
end

local function double(digit)
    return tostring(tonumber(digit) * 2)
end

function shop.replaced(n)
    local text = ('article %d costs %d; '):format(n, n % 77):rep(60)
    return #text:gsub('%d', double)
end

local function price(i)
    if i % 50 == 0 then error('no price') end
    return #ngx.md5(tostring(i)) + i % 7
end

-- A coroutine. nginx's own scheduler resumes it, not the function that calls it.
local function each(n)
    for i = 1, 200 do
        local ok, value = pcall(price, i + n)
        coroutine.yield(ok and value or 0)
    end
end

function shop.priced(n)
    local prices, sum = coroutine.wrap(each), 0
    for _ = 1, 200 do sum = sum + prices(n) end
    return sum
end

local function timed(name, n)
    local before = os.clock()
    local value = shop[name](n)
    spent[name] = spent[name] + os.clock() - before
    return value
end

function shop.answer(n)
    ngx.say(timed('sorted', n), ' ', timed('replaced', n), ' ', timed('priced', n))
end

function shop.spent()
    for name, seconds in pairs(spent) do ngx.say(name, '\t', seconds) end
end

return shop
