-- SPDX-License-Identifier: Apache-2.0
-- busy.lua - a program that does little but call C from Lua and Lua from C. Prints a line when it begins.
local function leaf(n)
    local sum = n
    for i = 1, 20 do
        sum = sum + i % 3
    end
    return sum
end

local function by(a, b)
    leaf(a)
    return a < b
end

local function sorted()
    local list = { 5, 2, 8, 1, 9, 3 }
    table.sort(list, by)
    return list
end

local function each(c)
    leaf(1)
    return c
end

local function replaced()
    local text = string.gsub('abcdef', '%w', each)
    return text
end

local function inner(n)
    local value = leaf(n)
    return value
end

local function protected()
    local ok, value = pcall(inner, 3)
    return value
end

local function fails()
    leaf(1)
    error('expected')
end

local function caught()
    local ok = pcall(fails)
    return ok
end

local meta = {}
function meta.index(_, key)
    local value = leaf(1)
    return value
end

function meta.add(a, b)
    local value = leaf(2)
    return value
end

function meta.less(a, b)
    local value = leaf(3)
    return value > 1
end

function meta.text(a)
    local value = leaf(4)
    return 'x'
end

local object = setmetatable({}, { __index = meta.index, __add = meta.add, __lt = meta.less, __tostring = meta.text })

local function overloaded()
    local value = object.price
    value = object + 1
    local is_less = object < object
    local text = tostring(object)
    return value, is_less, text
end

local function body()
    while true do
        leaf(5)
        coroutine.yield(1)
        pcall(inner, 6)
    end
end

local waiting = coroutine.create(body)
local function resumed()
    local ok, value = coroutine.resume(waiting)
    return value
end

local function recurse(n)
    if n == 0 then
        local value = leaf(7)
        return value
    end
    local value = recurse(n - 1)
    return value
end

local function work()
    sorted()
    replaced()
    protected()
    caught()
    overloaded()
    resumed()
    recurse(5)
    leaf(8)
end

print('ready')
io.stdout:flush()
while true do
    work()
end
