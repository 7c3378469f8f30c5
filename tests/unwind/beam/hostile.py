#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA HOSTILE INTERPRETED - a process that looks like Erlang's runtime and has false data: strata prints each stack, a
wrong one with its mark; nothing hangs, crashes or grows, and no control character reaches the terminal. HOSTILE is
hostile.c, INTERPRETED is the same without JIT compiler, whose stacks say that frames are missing. Prints TAP."""
import os
import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import absent
import liars
import traced
from liars import UNREADABLE
from tap import Cases

STRATA, HOSTILE, INTERPRETED = sys.argv[1:]
LIMIT = 300
SCRIPT = f'''uprobe:libc:getppid /pid == %d/ {{
    @calls = count();
    @deepest = max(len(beamstack));
    @p[beamstack(addr, {LIMIT})] = count();
    @u[ustack(addr, {LIMIT})] = count();
}}'''

LIES = {
    'truth': ({''}, 5, 5),
    'truth-rbp': ({''}, 5, 5),
    'wild-stop': ({UNREADABLE}, 1, 1),
    'uneven-stop': ({UNREADABLE}, 1, 1),
    'stop-above': ({UNREADABLE}, 1, 1),
    'wild-process': ({UNREADABLE}, 1, 1),
    'wild-heap': ({UNREADABLE}, 1, 1),
    'endless-heap': ({UNREADABLE}, 1, 1),
    'no-end': ({UNREADABLE}, 5, 5),
    'wild-word': ({UNREADABLE}, 1, 5),
    'full': ({''}, 5, 20),
    'outside-functions': ({'', UNREADABLE}, 3, 5),
    'wild-atom': ({''}, 4, 5),
    'no-atom': ({''}, 4, 5),
    'wild-text': ({''}, 5, 5),
    'long-text': ({''}, 5, 5),
    'terminal': ({''}, 5, 5),
    'wild-segment': ({''}, 5, 5),
    'wild-lines': ({''}, 5, 5),
    'endless-lines': ({''}, 5, 5),
    'place': ({''}, 5, 5),
    'endless-name': ({''}, 5, 5),
    'wild-name': ({''}, 5, 5),
    'functions': ({''}, 4, 5),
    'wild-function': ({''}, 4, 5),
    'modules': ({''}, 0, 5),
    'wild-modules': ({''}, 0, 5),
    'random': ({'', UNREADABLE}, 1, 5),
    # The process is not taken for Erlang.
    'table-empty': (None, 0, 0),
    'table-wild': (None, 0, 0),
    'table-back': (None, 0, 0),
    'table-atoms': (None, 0, 0),
    'table-functions': (None, 0, 0),
    'table-key': ({UNREADABLE}, 1, 1),
}
NAMED = ('truth', 'truth-rbp')
NAMES = ['m24:f45/5 hostile.erl:15', 'm25:f44/4 hostile.erl:14', 'm26:f43/3 hostile.erl:13', 'm27:f42/2 hostile.erl:12']

ERLANG = liars.Liars('Erlang', 'beamstack', LIES, unknown=(), limits=())
cases = Cases()


def names(out, mode):
    for lines, _ in liars.stacks(out):
        frames = [line for line in lines if not line.startswith('[')]
        if mode in NAMED and frames and frames[1:] != NAMES:
            yield f'names {frames}'


def run(mode, lie, program=HOSTILE):
    start = time.monotonic()
    process = traced.start(program, mode)
    process.stdout.readline()
    try:
        _, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    finally:
        process.kill()
        process.wait()
    out = b'\n'.join(printed).decode(errors='replace')
    wrong = [*liars.complaints(ERLANG, process.returncode, out, time.monotonic() - start, mode, lie), *names(out, mode)]
    cases.check(not wrong, f'{os.path.basename(program)} {mode}', '\n'.join([*wrong[:5], said.decode(errors='replace'), out[:2000]]))


def main():
    for mode, lie in LIES.items():
        run(mode, lie)
    run('truth', ({UNREADABLE}, 0, 0), INTERPRETED)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    cases.check(peak < liars.MEGABYTES, f'the tracer stays below {liars.MEGABYTES} MB', f'{peak} MB')
    return cases.done()


sys.exit(absent.as_root(main))
