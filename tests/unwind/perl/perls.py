#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perls.py - the Perls of tests, in build/perl (or in STRATA_PERL): Debian's, each in a tree of packages with all
dependencies, which is the root of its processes.

    perls.py                 prints the names of all
    perls.py NAME...         unpacks these if necessary, and prints the program of each

The program execs that Perl, so the process ID stays the same."""
import fcntl
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_PERL', TOP / 'build' / 'perl'))
sys.path[:0] = [str(TOP / 'tests' / name) for name in ('lib', 'pythons')]
import packages
import pythons

# Debian's suite of each version.
DEBIAN = {'5.32': 'bullseye', '5.36': 'bookworm', '5.40': 'trixie', '5.42': 'sid'}
# A program in Perl, with the Perl of each suite: exiftool-5.36.
EXIFTOOL = 'libimage-exiftool-perl'


def names():
    return list(DEBIAN)


def get(name):
    """Returns the program; unpacks it if it does not exist. A name with / is the program of this machine."""
    if '/' in name:
        return pathlib.Path(name)
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            version = name.removeprefix('exiftool-')
            packages.unpack_whole(CACHE, DEBIAN[version], 'amd64', directory / 'root',
                                  ['perl', *([EXIFTOOL] if name != version else [])])
            pythons.enter(directory, '/usr/bin/perl')
            (directory / 'python').rename(directory / 'perl')
            (directory / 'done').touch()
    return directory / 'perl'


if __name__ == '__main__':
    print(*(map(get, sys.argv[1:]) if sys.argv[1:] else names()), sep='\n')
