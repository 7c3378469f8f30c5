#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reload.py STRATA RELOAD - a library that was closed gives no names to the one that has its addresses now: reload.c
opens and closes two. Prints TAP."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import tap
import traced

STRATA, RELOAD = sys.argv[1:]
CALLS = ('tracepoint:syscalls:sys_enter_getppid, tracepoint:syscalls:sys_enter_getpgid { @[ustack(func, 8)] = count(); }')
SAMPLES = 'profile:hz:1999 { @[ustack(func, 8)] = count(); }'
# Each function makes one call, and works for some milliseconds with SPIN.
LIBRARY = '''#include <unistd.h>
int {name}(void) {{
    volatile int n = 0;
    for (int i = 0; i < {spin}; i++)
        n += i;
    return {call} + n;
}}
'''
CYCLES, FAST = 60, 400
PAUSE = 20000 # microseconds; strata reads what a process has mapped every 4 ms
PAIR = re.compile(r'^\s*(alpha|beta)\b.*\n\s*(run_alpha|run_beta)\b', re.M)


def libraries(directory, spin):
    paths = []
    for name, call in ('alpha', 'getppid()'), ('beta', 'getpgid(0)'):
        paths.append(directory / f'{name}{spin}.so')
        subprocess.run(['cc', '-O0', '-shared', '-fPIC', '-x', 'c', '-', '-o', paths[-1]], check=True, text=True,
                       input=LIBRARY.format(name=name, spin=spin, call=call))
    return paths


def run(paths, cycles, pause, script):
    """Returns {(function, its caller): stacks}, the number of other stacks, and how often the address was the same."""
    account, printed, _ = traced.beside(traced.start(RELOAD, *paths, cycles, pause), STRATA, script)
    pairs, others = collections.Counter(), 0
    for stack, n in re.findall(r'^@\[\n(.*?)^\]: (\d+)$', b'\n'.join(printed).decode(), re.M | re.S):
        found = PAIR.search(stack)
        if found:
            pairs[found.groups()] += int(n)
        else:
            others += int(n)
    return pairs, others, int(account[0])


def wrong(pairs):
    return {pair: n for pair, n in pairs.items() if pair[1] != f'run_{pair[0]}'}


def main():
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as work:
        paths, busy = libraries(pathlib.Path(work), 0), libraries(pathlib.Path(work), 2000000)
        pairs, others, same = run(paths, CYCLES, PAUSE, CALLS)
        cases.check(same > CYCLES // 2, 'libraries have the same address', same)
        cases.check(not wrong(pairs), 'calls of a library that was opened just now have its names', pairs)
        cases.check(sum(pairs.values()) >= 0.95 * 3 * CYCLES, '..nearly all have names', f'{pairs}, {others} others')
        pairs, others, same = run(paths, FAST, 0, CALLS)
        # Strata reads that a library was opened while it is closed again: few calls have no names or old ones.
        cases.check(sum(wrong(pairs).values()) <= 0.15 * 3 * FAST, '..also if no library stays open', pairs)
        pairs, others, same = run(busy, CYCLES, 0, SAMPLES)
        cases.check(not wrong(pairs) and sum(pairs.values()) > others, 'samples, too', f'{pairs}, {others} others')
    cases.done()


if __name__ == '__main__':
    main()
