-- SPDX-License-Identifier: Apache-2.0
-- account.lua CALLS SEED - makes random stacks; at the end of each removes a file that does not exist, and keeps Lua's own
-- account of the stack. Prints its version, then after a line on standard input all accounts, a line each: frames with TAB
-- between them.
local calls, seed = tonumber(arg[1]), tonumber(arg[2])
local accounts, depth, limit = {}, 0, 0
local state = seed

local function random(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return math.floor(state / 65536) % n + 1
end

-- The coroutines that wait for the running one, the outermost first, and what the program runs outside of all.
local resumed, outermost = {}, {}

-- Functions in Lua by the line that defines them, those in C by their modules.
local names = {}

for module, functions in pairs(package.loaded) do
    for name, f in pairs(type(functions) == 'table' and functions or {}) do
        if type(f) == 'function' then names[f] = module == '_G' and name or names[f] or module .. '.' .. name end
    end
end

local function frame(info)
    if info.what == 'C' then return names[info.func] or '[C]' end
    local name = names[info.func] or (info.what == 'main' and 'main chunk') or
        'function <' .. info.short_src .. ':' .. info.linedefined .. '>'
    return name .. ' ' .. info.short_src .. ':' .. info.currentline
end

local function note()
    if #accounts == calls then return end -- a way may call go() twice
    local words, level = {}, 2
    while true do
        local info = debug.getinfo(level, 'Slf')
        if not info then break end
        words[#words + 1] = frame(info)
        level = level + 1
    end
    for i = #resumed, 1, -1 do
        level = 0
        while true do
            local info = debug.getinfo(resumed[i], level, 'Slf')
            if not info then break end
            words[#words + 1] = frame(info)
            level = level + 1
        end
    end
    for _, word in ipairs(outermost) do words[#words + 1] = word end
    accounts[#accounts + 1] = table.concat(words, '\t')
    os.remove('/nonexistent/strata')
end

local go

-- Runs f in a coroutine.
local function resume(f, ...)
    local thread = coroutine.create(f)
    resumed[#resumed + 1] = coroutine.running()
    local ok, message = coroutine.resume(thread, ...)
    resumed[#resumed] = nil
    assert(ok, message)
    return thread
end

names[note], names[resume] = 'note', 'resume'

local meta = setmetatable({}, {
    __index = function(_, key)
        go()
        return key
    end,
    __newindex = function() go() end,
    __call = function() go() return 1 end,
    __add = function() go() return 1 end,
    __concat = function() go() return 'x' end,
    __unm = function() go() return 1 end,
    __lt = function() go() return true end,
    __le = function() go() return true end,
    __len = function() go() return 1 end,
    __tostring = function() go() return 'meta' end,
})
for name, f in pairs(getmetatable(meta)) do names[f] = name end
local other = setmetatable({}, { __eq = function() go() return true end })
names[getmetatable(other).__eq] = '__eq'
local another = setmetatable({}, getmetatable(other))

local function varargs(...)
    local n = select('#', ...)
    go()
    return n, ...
end

local function recurse(n)
    if n == 0 then return go() end
    local value = recurse(n - 1)
    return value
end

local function tail(n)
    return recurse(n)
end

names[varargs], names[recurse], names[tail] = 'varargs', 'recurse', 'tail'

local ways = {
    function() go() end,
    function() varargs(1, 2, 3) end,
    function() varargs() end,
    function() recurse(random(5)) end,
    function() local x = tail(random(3)) return x end,
    function() local ok = pcall(go) return ok end,
    function() local ok = pcall(varargs, 1, 2) return ok end,
    function() local ok = xpcall(go, debug.traceback) return ok end,
    function() pcall(error, 'expected') go() end,
    function() local ok = pcall(function() go() error('expected') end) return ok end,
    function() local ok = xpcall(function() error('expected') end, function() go() end) return ok end,
    function() local s = string.gsub('ab', '%w', function(c) go() return c end) return s end,
    function() local t = { 3, 1, 2 } table.sort(t, function(a, b) if a == 1 then go() end return a < b end) end,
    function() local x = meta.price return x end,
    function() meta.price = 1 end,
    function() local x = meta() return x end,
    function() local x = meta + 1 return x end,
    function() local x = meta .. 'y' return x end,
    function() local x = -meta return x end,
    function() local x = meta < meta return x end,
    function() local x = meta <= meta return x end,
    function() local x = tostring(meta) return x end,
    function() local x = other == another return x end,
    function() for i in function(_, i) if not i then go() return 1 end end do local x = i end end,
    function() local f = (loadstring or load)('local go = ... go() return 1', '=chunk') local x = f(go) return x end,
    function() local f = (loadstring or load)('local go = ...\n\ngo()\nreturn 1', '@some/file.lua') local x = f(go) return x end,
    function() resume(function() go() end) end,
    function() resume(function() local ok = pcall(go) return ok end) end,
    function()
        local thread = resume(function() coroutine.yield() go() end)
        resumed[#resumed + 1] = coroutine.running()
        assert(coroutine.resume(thread))
        resumed[#resumed] = nil
    end,
    function()
        local f = coroutine.wrap(function() coroutine.yield(1) varargs(2) end)
        f()
        resumed[#resumed + 1] = coroutine.running()
        f()
        resumed[#resumed] = nil
    end,
    function() local x = select(2, 1, go()) return x end,
    function() local f = string.format('%s', tostring(meta)) return f end,
}

function go()
    depth = depth + 1
    if depth >= limit or random(4) == 1 then
        note()
    else
        ways[random(#ways)]()
    end
    depth = depth - 1
end

names[go] = 'go'

-- debug.getinfo() knows the main coroutine only in some versions, so all runs in another one.
local function main()
    print((jit and jit.version or _VERSION):match('%S+$'))
    io.stdout:flush()
    io.read()
    while #accounts < calls do
        depth, limit = 0, random(30)
        go()
    end
    for i = 1, calls do print(accounts[i]) end
end

names[main] = 'main'
outermost = { 'coroutine.resume', frame(debug.getinfo(1, 'Slf')) } assert(coroutine.resume(coroutine.create(main)))
