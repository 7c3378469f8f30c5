#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""loops.py - checks that a jump closes every loop, and that no loop falls through into its head.

    loops.py STRATA DIRECTORY OBJECT...

It reads the objects, and those that strata makes of the scripts in DIRECTORY (if this machine
has their probes). Linux 6.1 follows a loop only if a jump closes it: see check_cfg() in its
kernel/bpf/verifier.c, whose order of search this is."""
import pathlib
import subprocess
import sys
import tempfile

from bpf import Object

JUMPS, CALL, EXIT, ALWAYS, LOAD64 = (5, 6), 0x80, 0x90, 0, 0x18


def edges(code, at):
    """Returns [(target, whether a jump leads to it)] of an instruction."""
    op, _, off, _ = code[at]
    if op & 7 not in JUMPS or op & 0xf0 == CALL:
        return [(at + (2 if op == LOAD64 else 1), False)]
    if op & 0xf0 == EXIT:
        return []
    return ([] if op & 0xf0 == ALWAYS else [(at + 1, True)]) + [(at + 1 + off, True)]


def refused(code):
    """Returns the edges that lead back without a jump."""
    todo, open_, found, bad = [(0, 0)], {0}, {0}, []
    while todo:
        at, n = todo.pop()
        next_ = edges(code, at)
        if n == len(next_):
            open_.discard(at)
            continue
        todo.append((at, n + 1))
        to, jump = next_[n]
        if to not in found:
            found.add(to)
            open_.add(to)
            todo.append((to, 0))
        elif to in open_ and not jump:
            bad.append((at, to))
    return bad


def made_of(strata, scripts):
    """Yields the name and object of each script that compiles on this machine."""
    for script in scripts:
        done = subprocess.run([strata, '-d', 'elf', script], capture_output=True)
        if not done.returncode and done.stdout:
            with tempfile.NamedTemporaryFile() as out:
                out.write(done.stdout)
                out.flush()
                yield script.name, Object(out.name)


def main(strata, directory, *objects):
    print('1..2')
    for n, files in enumerate(([(o, Object(o)) for o in objects],
                               made_of(strata, sorted(pathlib.Path(directory).glob('*.bt')))), 1):
        looked = bad = 0
        for name, file in files:
            looked += 1
            for function, code in file.code.items():
                for at, to in refused(code):
                    bad += 1
                    print(f'# {name}: {function}: from instruction {at} to {to}')
        print('not ok' if bad or not looked else 'ok', f'{n} - {looked} files')


main(*sys.argv[1:])
