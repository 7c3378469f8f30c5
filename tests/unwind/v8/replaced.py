#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replaced.py - samples of functions whose addresses others had before them, in the interpreter and in compiled code: strata
prints the name of the one that runs.

    replaced.py STRATA [COUNT [VERSION...]]      root"""
import bisect
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
SCRIPT = 'profile:hz:2999 { printf("stack %ld\\n%s", nsecs, jsstack(3)); }'
MODES = {'default': [], 'baseline': ['--no-opt'], 'interpreter': ['--no-opt', '--no-sparkplug']}


def samples(strata, node, count):
    """Returns the times and names of samples, and those of the program's functions: (begin, end, name)."""
    traced = subprocess.Popen([*node, '--expose-gc', HERE / 'replaced.js', str(count)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    tracer = subprocess.Popen([strata, '-p', str(traced.pid), '-e', SCRIPT], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    attached(tracer)
    own = []
    readers = [threading.Thread(target=tracer.stderr.read), threading.Thread(target=lambda: own.extend(traced.stdout))]
    for reader in readers:
        reader.start()
    traced.stdin.close()
    out = tracer.stdout.read()
    for reader in readers:
        reader.join()
    traced.wait()
    runs = [(int(begin), int(end), name) for name, begin, end in map(str.split, own)]
    seen = [(int(stack.partition('\n')[0]), re.findall(r'^\s+(f\d{6}) ', stack, re.M))
            for stack in re.split(r'^stack (?=\d)', out, flags=re.M)[1:]]
    return seen, runs


def compare(seen, runs):
    """Returns the number of samples within a function's run that have a name, and those with another's."""
    begins, named, wrong = [begin for begin, _, _ in runs], 0, []
    for time, names in seen:
        at = bisect.bisect(begins, time) - 1
        if at < 0 or time > runs[at][1] or not names:
            continue
        named += 1
        if names[0] != runs[at][2]:
            wrong.append(f'{names[0]} for {runs[at][2]}')
    return named, wrong


def main(strata, count='1000', *versions):
    cases = Cases()
    for version in versions or ('20', '26'):
        try:
            program = str(binaries.node(version))
        except Missing as why:
            return all_fail(why)
        for mode, options in MODES.items():
            named, wrong = compare(*samples(strata, [program, *options], count))
            cases.check(named > int(count) / 4 and not wrong,
                        f"node {version}, {mode}: {len(wrong)} of {named} samples have another function's name", wrong[:3])
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
