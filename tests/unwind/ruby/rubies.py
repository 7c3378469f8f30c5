#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rubies.py - the Rubies of tests, in build/ruby (or in STRATA_RUBY): Debian's, each in a tree of packages with all
dependencies, which is the root of its processes.

    rubies.py                 prints the names of all
    rubies.py NAME...         unpacks these if necessary, and prints the program of each

The program execs that Ruby, so the process ID stays the same."""
import fcntl
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_RUBY', TOP / 'build' / 'ruby'))
sys.path[:0] = [str(TOP / 'tests' / name) for name in ('lib', 'pythons')]
import packages
import pythons

# Debian's suite of each version.
DEBIAN = {'2.7': 'bullseye', '3.1': 'bookworm', '3.3': 'trixie'}
# Versions that are in experimental; their dependencies are those of another version in sid.
EXPERIMENTAL = {'3.4': '3.3'}
# A web server and a framework with the Ruby of each suite: web-3.3.
WEB = ['puma', 'ruby-sinatra']


def names():
    return [*DEBIAN, *EXPERIMENTAL]


def get(name):
    """Returns the program; unpacks it if it does not exist. A name with / is the program of this machine."""
    if '/' in name:
        return pathlib.Path(name)
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            version = name.removeprefix('web-')
            base = EXPERIMENTAL.get(name)
            packages.unpack_whole(CACHE, 'sid' if base else DEBIAN[version], 'amd64', directory / 'root',
                                  [f'ruby{base or version}', *(WEB if name != version else [])])
            if base:
                packages.unpack(CACHE, 'experimental', 'amd64', directory / 'root', [f'ruby{name}', f'libruby{name}'])
            pythons.enter(directory, f'/usr/bin/ruby{version}')
            (directory / 'python').rename(directory / 'ruby')
            (directory / 'done').touch()
    return directory / 'ruby'


if __name__ == '__main__':
    print(*(map(get, sys.argv[1:]) if sys.argv[1:] else names()), sep='\n')
