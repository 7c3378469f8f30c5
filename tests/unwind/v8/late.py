#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""late.py - JavaScript that runs while strata is stopped; its objects are moved or collected before strata
continues: stacks are whole if node's file is known beforehand, otherwise whole or marked.

    late.py STRATA [VERSION...]      root"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import binaries
import waits
from absent import Missing, all_fail, as_root
from tap import Cases
from traced import attached

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = r'''tracepoint:syscalls:sys_enter_umask /comm != "sh"/ { @[jsstack] = count(); }'''
CALLS = 200 # umask() makes two
# The frames of moving.js, innermost first. strata reads lines and names from the process: they may be gone.
FUNCTIONS = ['innermost', 'middle', 'passing', 'main', '<anonymous>']
MOST = 0.9  # share of whole stacks: another thread of node may hold the lock that the kernel half needs


def look(strata, command):
    """Returns {stack's lines: count}, and the whole output. The command reads bytes from its standard input: after the first
    it runs while strata is stopped, and before the last strata can read its lines."""
    tracer = subprocess.Popen([strata, '-e', SCRIPT, '-c', command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    attached(tracer)
    traced = waits.child(tracer.pid)
    waits.reading(traced)
    os.kill(tracer.pid, signal.SIGSTOP)
    waits.stopped(tracer.pid)
    tracer.stdin.write('\n' * (1 + command.startswith('sh ')))
    tracer.stdin.flush()
    waits.until(lambda: not waits.level(tracer.stdin) and waits.is_reading(traced), 'the calls')
    os.kill(tracer.pid, signal.SIGCONT)
    waits.idle(tracer.pid)
    out = tracer.communicate()[0]
    found = {}
    for stack, count in re.findall(r'^@\[(.*?)^\]: (\d+)$', out, re.M | re.S):
        lines = tuple(line.strip() for line in stack.splitlines() if line.strip())
        found[lines] = found.get(lines, 0) + int(count)
    return found, out


def is_whole(stack):
    names = [line.split()[0] for line in stack if '/moving.js' in line]
    return len(names) == len(FUNCTIONS) and not is_marked(stack) and all(
        name in (function, '<anonymous>') for name, function in zip(names, FUNCTIONS))


def is_marked(stack):
    return bool(stack) and stack[-1].startswith('[')


def wrong(found):
    """The first error, or None."""
    bad = [stack for stack in found if not is_whole(stack) and not is_marked(stack)]
    if sum(found.values()) != CALLS:
        return f'{sum(found.values())} stacks'
    return f'{len(bad)} stacks are neither whole nor marked' if bad else None


def main(strata, *versions):
    cases = Cases()
    try:
        programs = [(version, binaries.node(version)) for version in versions or ('20', '26')]
    except Missing as why:
        return all_fail(why)
    for version, program in programs:
        found, out = look(strata, f'{program} {HERE / "moving.js"}')
        whole = sum(n for stack, n in found.items() if is_whole(stack))
        why = wrong(found)
        cases.check(not why and whole >= MOST * CALLS, f'node {version}: {whole} of {CALLS} stacks are whole', why, out)
        with tempfile.TemporaryDirectory() as directory:
            copy = shutil.copy2(program, pathlib.Path(directory, 'node'))
            found, out = look(strata, f'sh -c "read line; exec {copy} {HERE / "moving.js"}"')
        why = wrong(found)
        cases.check(not why, f'node {version}, not known before', why, out)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
