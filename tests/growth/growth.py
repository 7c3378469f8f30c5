#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth.py STRATA - the time to compile grows linearly with the script, or strata refuses the script
at once with a source position.

Compares the CPU time for a script with that for one four times its size: linear growth gives 4,
quadratic 16. Nothing is loaded."""
import os
import resource
import subprocess
import sys
import tempfile

SHAPES = {
    'begin probes': (300, lambda n: '\n'.join('begin { @a++ }' for _ in range(n))),
    'intervals': (150, lambda n: '\n'.join(f'interval:ms:{100 + i} {{ @a++ }}' for i in range(n))),
    'statements': (150, lambda n: body('@a[pid] = nsecs;' for _ in range(n))),
    'printf': (60, lambda n: body('printf("%d %s\\n", pid, comm);' for _ in range(n))),
    'copies of strings': (250, lambda n: body(['$v0 = comm;'] + [f'$v{i + 1} = $v{i};' for i in range(n)])),
    'ifs': (150, lambda n: body(f'if (rand % {i + 2}) {{ @a = {i} }}' for i in range(n))),
    'else ifs': (90, lambda n: body([' else '.join(f'if (pid == {i}) {{ @a = {i} }}' for i in range(n))])),
    'sum': (90, lambda n: body(['@a = ' + ' + '.join('pid' for _ in range(n)) + ';'])),
    'arguments': (300, lambda n: body([f'printf("{"%d" * n}"{", pid" * n});'])),
    'long string': (4000, lambda n: body([f'@a = "{"x" * n}";'])),
    'maps': (40, lambda n: '\n'.join(f'begin {{ @m{i}[pid] = count() }}' for i in range(n))),
    'unrolls': (50, lambda n: body('unroll (100) { @a++ }' for _ in range(n))),
    'nested unroll': (25, lambda n: body([f'unroll ({n}) {{ unroll ({n}) {{ unroll ({n}) {{ @a = nsecs }} }} }}'])),
    'mistakes': (400, lambda n: body(f'prinft({i});' for i in range(n))),
}
MOST = 8       # ratio of the two times
SLACK = 0.15   # seconds that are ignored


def body(statements):
    return 'begin {\n' + '\n'.join(statements) + '\n}\n'


def seconds(strata, text):
    """Returns (CPU time, whether it was killed)."""
    with tempfile.NamedTemporaryFile('w', suffix='.bt') as script:
        script.write(text)
        script.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([strata, '-d', 'image', script.name], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.returncode < 0


def main():
    strata, failed = os.path.abspath(sys.argv[1]), 0
    print(f'1..{len(SHAPES)}')
    for number, (name, (n, make)) in enumerate(SHAPES.items(), 1):
        small, died = seconds(strata, make(n))
        large, died_too = seconds(strata, make(4 * n))
        if large > MOST * small + SLACK:  # another program may have slowed it down
            large, _ = seconds(strata, make(4 * n))
        ok = not died and not died_too and large <= MOST * small + SLACK
        failed += not ok
        print(f'{"ok" if ok else "not ok"} {number} - {name}: {n} in {small:.2f} s, {4 * n} in {large:.2f} s')
    return failed != 0


sys.exit(main())
