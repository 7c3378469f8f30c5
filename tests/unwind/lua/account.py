#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py STRATA CALLS [LUA...] - compares debug.getinfo with luastack and with Lua's frames of ustack, frame by frame,
for random stacks: name, file and line. A LUA is a name of luas.py. LuaJIT runs without its compiler and with it.
Prints TAP."""
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import luas
import traced

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
SCRIPT = '''tracepoint:syscalls:sys_enter_unlink* /pid == %d/ {
    printf("luastack%%s\\n", luastack(4096));
    printf("ustack%%s\\n", ustack(4096));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|.* \S+\.(c|h|S):\d+$')


def agree(frames, account):
    """The first frames are os.remove and note(); the last may be the function in C that runs the program."""
    if frames[-1:] == ['[C]']:
        frames = frames[:-1]
    return frames[:1] == ['os.remove'] and frames[1].startswith('note ') and frames[2:] == account


def compare(cases, name, *options):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        program = pathlib.Path(directory) / 'account.lua'
        program.write_bytes((HERE / 'account.lua').read_bytes())
        process = traced.start(luas.get(name), *options, program, CALLS, 1, cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        lines, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    noted = [line.decode().rstrip('\n').split('\t') for line in lines]
    accounts.compare(cases, f'{" ".join([name, *options])} {version}', accounts.stacks(printed, 'luastack', NATIVE), noted, CALLS,
                     agree, said, lambda frames: ' | '.join(frames).replace(directory, ''))


def check(cases, name):
    for options in [['-joff'], ['-jon']] if 'luajit' in name else [[]]:
        compare(cases, name, *options)


sys.exit(accounts.each(NAMES or luas.names(), luas.get, check))
