-- SPDX-License-Identifier: Apache-2.0
io.read('*a')
for i = 0, tonumber(arg[1]) - 1 do
  local name = string.format('f%06d', i)
  local code = 'function %s(n) local s = 0; for k = 1, n do s = s + k %% 7 end return s end %s(20000) %s = nil'
  -- Strings above 40 bytes are of another kind in Lua.
  local chunk = i % 2 == 0 and '=' .. name or '=' .. string.rep('d/', 30) .. name;
  (loadstring or load)(string.format(code, name, name, name), chunk)()
  if i % 5 == 0 then collectgarbage() end
end
