#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""frames.py STRATA [LUA...] - luastack's other uses: has_frame(), len(), names and lines of processes that have ended, and
dump. A LUA is a name of luas.py. Prints TAP."""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import luas
import traced
import waits

STRATA, NAMES = sys.argv[1], sys.argv[2:]
CALLS = 300
PROGRAM = f'''local function leaf(name) os.remove('/nonexistent/' .. name) end
local function wanted() leaf('wanted') end
local function other() leaf('other') end
print('ready')
io.stdout:flush()
io.read()
for i = 1, {CALLS} do
    if i % 3 == 0 then wanted() else other() end
end
'''
SCRIPT = '''tracepoint:syscalls:sys_enter_unlink* /pid == %d && has_frame(luastack, "wanted")/ { @yes[str(args.pathname)] = count(); }
tracepoint:syscalls:sys_enter_unlink* /pid == %d && !has_frame(luastack, "wanted")/ { @no[str(args.pathname)] = count(); }
tracepoint:syscalls:sys_enter_unlink* /pid == %d/ { @deep = max(len(luastack)); @stack[luastack] = count(); }
'''


def look(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        program = pathlib.Path(directory) / 'frames.lua'
        program.write_text(PROGRAM)
        process = traced.start(luas.get(name), program, cwd='/tmp')
        process.stdout.readline()
        waits.reading(process.pid)
        dumped = subprocess.run([STRATA, 'dump', '-p', str(process.pid)], capture_output=True, text=True).stdout
        _, printed, said = traced.beside(process, STRATA, SCRIPT % ((process.pid,) * 3))
    cases.check(re.search(r'^\s+io\.read$\n^\s+main chunk \S+frames\.lua:6$', dumped, re.M), f'{name}: dump', dumped)
    out = b'\n'.join(printed).decode()
    found = {(side, path): int(n) for side, path, n in re.findall(r'^@(yes|no)\[/nonexistent/(\w+)\]: (\d+)$', out, re.M)}
    undecided = sum(map(int, re.findall(r'(\d+) events? w(?:as|ere) not decided', said.decode())))
    wrong = found.get(('yes', 'other'), 0) + found.get(('no', 'wanted'), 0)
    cases.check(not wrong and sum(found.values()) + undecided // 2 == CALLS, f'{name}: has_frame()', found, said.decode())
    deep = re.search(r'^@deep: (\d+)$', out, re.M)
    # LuaJIT also has the function in C that runs the program.
    cases.check(deep and int(deep.group(1)) == 4 + ('luajit' in name), f'{name}: len()', out)
    stack = rf'os\.remove\s+leaf \S+:1\s+wanted \S+:2\s+main chunk \S+:8\s[^@]*\]: {CALLS // 3}$'
    cases.check(re.search(stack, out, re.M), f'{name}: names of a process that has ended', out)


sys.exit(accounts.each(NAMES or luas.names(), luas.get, look))
