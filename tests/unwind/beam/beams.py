#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""beams.py - the Erlangs of tests, in build/beam (or in STRATA_BEAM): Debian's, each in a tree of packages with all
dependencies, which is the root of its processes.

    beams.py                prints the names of all
    beams.py NAME...        unpacks these if necessary, and prints the program `erl` of each

The program execs beam.smp, so the process ID stays the same."""
import fcntl
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_BEAM', TOP / 'build' / 'beam'))
sys.path[:0] = [str(TOP / 'tests' / name) for name in ('lib', 'pythons')]
import packages
import pythons

SUITES = ('bookworm', 'trixie', 'sid')  # OTP 25, 27, 29
# An application, such as bookworm-ejabberd.
APPLICATIONS = ('ejabberd',)


def names():
    return list(SUITES)


def enter(directory):
    """Writes `erl`. The package's own is a script, and the tree has no shell."""
    bindir = next((directory / 'root').glob('usr/lib/erlang/erts-*/bin')).relative_to(directory / 'root')
    pythons.enter(directory, f'/{bindir}/erlexec')
    script = (directory / 'python').read_text().replace(
        '#!/bin/sh\n', f'#!/bin/sh\nexport ROOTDIR=/usr/lib/erlang BINDIR=/{bindir} EMU=beam PROGNAME=erl HOME=/tmp\n', 1)
    (directory / 'erl').write_text(script)
    (directory / 'erl').chmod(0o755)
    (directory / 'python').unlink()


def get(name):
    """Returns the program; unpacks it if it does not exist."""
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            suite, _, application = name.partition('-')
            packages.unpack_whole(CACHE, suite, 'amd64', directory / 'root',
                                  ['erlang-base', *([application] if application in APPLICATIONS else [])])
            enter(directory)
            (directory / 'done').touch()
    return directory / 'erl'


def compile_module(name, source, directory, *macros):
    """Compiles a module into the directory, which must be below /tmp: it exists whatever the root is."""
    options = ', '.join([f'{{outdir, "{directory}"}}', 'report', *(f"{{d, '{macro}'}}" for macro in macros)])
    code = f'case compile:file("{source}", [{options}]) of {{ok, _}} -> halt(0); _ -> halt(1) end.'
    subprocess.run([get(name), '-noshell', '-eval', code], check=True, cwd='/tmp', stdin=subprocess.DEVNULL)


def command(name, directory, module, *arguments):
    """Returns the command that calls main/1 of a module with the arguments."""
    return [get(name), '+S', '2', '-noshell', '-pa', directory, '-run', module, 'main', *map(str, arguments)]


if __name__ == '__main__':
    print(*(map(get, sys.argv[1:]) if sys.argv[1:] else names()), sep='\n')
