#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""luas.py - the Luas of tests, in build/lua (or in STRATA_LUA): Debian's, each in a tree of packages with all
dependencies, which is the root of its processes.

    luas.py                 prints the names of all
    luas.py NAME...         unpacks these if necessary, and prints the program of each

The program execs that Lua, so the process ID stays the same."""
import fcntl
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_LUA', TOP / 'build' / 'lua'))
sys.path[:0] = [str(TOP / 'tests' / name) for name in ('lib', 'pythons')]
import packages
import pythons

SUITES = ('bullseye', 'bookworm', 'trixie', 'sid')
OLD = ('bullseye-luajit',)  # with 32-bit pointers, and not supported
PROGRAMS = ('lua5.3', 'lua5.4', 'luajit')
# A program that embeds LuaJIT, such as bookworm-nginx.
HOSTS = {'nginx': ('/usr/sbin/nginx', ['nginx', 'libnginx-mod-http-lua'])}


def names():
    return [name for program in PROGRAMS for suite in SUITES if (name := f'{suite}-{program}') not in OLD]


def get(name):
    """Returns the program; unpacks it if it does not exist. A name with / is the program of this machine."""
    if '/' in name:
        return pathlib.Path(name)
    suite, program = name.split('-')
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            path, wanted = HOSTS.get(program, (f'/usr/bin/{program}', [program]))
            packages.unpack_whole(CACHE, suite, 'amd64', directory / 'root', wanted)
            for base in ('passwd', 'group'):  # a server asks for its user
                (directory / 'root' / 'etc').mkdir(exist_ok=True)
                (directory / 'root' / 'etc' / base).write_text('root:x:0:0:::\n' if base == 'passwd' else 'root:x:0:\n')
            pythons.enter(directory, path)
            (directory / 'python').rename(directory / 'lua')
            (directory / 'done').touch()
    return directory / 'lua'


if __name__ == '__main__':
    print(*(map(get, sys.argv[1:]) if sys.argv[1:] else names()), sep='\n')
