#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collected.py - functions that are collected, whose addresses others get: strata never prints the name
of the function that had the address before.

    collected.py STRATA [COUNT [VERSION...]]      root"""
import pathlib
import re
import subprocess
import sys
import threading

import binaries
from absent import Missing, all_fail, as_root
from tap import Cases
from traced import attached

HERE = pathlib.Path(__file__).resolve().parent
NAMELESS = 0.02 # share of calls whose function was collected before strata read its name
SCRIPT = 'tracepoint:syscalls:sys_enter_getuid { printf("stack\\n%s", jsstack(3)); }'


def names(strata, node, count):
    """The name of the function that called probe(), at each system call."""
    traced = subprocess.Popen([node, '--expose-gc', HERE / 'collected.js', str(count)], stdin=subprocess.PIPE)
    tracer = subprocess.Popen([strata, '-p', str(traced.pid), '-e', SCRIPT], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    attached(tracer)
    said = []
    reader = threading.Thread(target=lambda: said.extend(tracer.stderr))
    reader.start()
    traced.stdin.close()
    out = tracer.stdout.read()
    traced.wait()
    reader.join()
    stacks = [[line.strip() for line in stack.splitlines()] for stack in out.split('stack\n')[1:]]
    callers = [below.split()[0] for s in stacks for above, below in zip(s, s[1:]) if above.startswith('probe ')]
    return callers, ''.join(said)


def main(strata, count='1500', *versions):
    versions = versions or ('20', '26')
    try:
        programs = [str(binaries.node(version)) for version in versions]
    except Missing as why:
        return all_fail(why)
    cases = Cases()
    for version, program in zip(versions, programs):
        seen, said = names(strata, program, int(count))
        want = [f'f{i:06}' for i in range(int(count)) for _ in range(2)]
        nameless = sum(a == '<anonymous>' for a in seen)
        wrong = sum(a != b for a, b in zip(seen, want) if a != '<anonymous>') + abs(len(seen) - len(want))
        others = [f'call {i}: {a} for {b}' for i, (a, b) in enumerate(zip(seen, want)) if a not in (b, '<anonymous>')]
        cases.check(not wrong and nameless <= NAMELESS * len(want), f'node {version}: {wrong} of {len(want)} calls '
                    f"with a name that is another's, {nameless} without", *others[:1], said)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
