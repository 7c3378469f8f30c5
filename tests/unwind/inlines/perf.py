#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf.py - strata and perf see the same ten hottest functions of a C++ program, most of which are inlined. perf is that
of Debian sid: older ones show few inlined functions, or take minutes. It stays in build/peers/perf.

    perf.py STRATA      root"""
import collections
import fcntl
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import packages
from absent import Missing
from tap import Cases

TOP_DIRECTORY = pathlib.Path(__file__).resolve().parents[3]
TREE = TOP_DIRECTORY / 'build' / 'peers' / 'perf'
LIBRARIES = TREE / 'usr' / 'lib' / 'x86_64-linux-gnu'
STRATA = sys.argv[1]
HZ, TOP, FUNCTIONS = 997, 10, 14
SHARES = [round(20 * 1.25 ** (TOP - i)) if i < TOP else 4 for i in range(FUNCTIONS)] # of time
cases = Cases()


def program():
    """Each function spins for its share, and calls the next one. Three of four are inlined."""
    out = ['static volatile unsigned long sink;\n']
    for i in reversed(range(FUNCTIONS)):
        how = '__attribute__((noinline))' if i % 4 == 3 else '__attribute__((always_inline)) inline'
        call = f'work{i + 1}<int>::spin(n);' if i + 1 < FUNCTIONS else ''
        out.append(f'template <class T> struct work{i} {{\n\tstatic {how} void spin(unsigned n)\n\t{{\n'
                   f'\t\tfor (unsigned i = 0; i < n * {SHARES[i]}; i++)\n\t\t\tsink = sink + i;\n\t\t{call}\n\t}}\n}};\n')
    out.append('int main() { for (unsigned i = 0; i < 80000; i++) work0<int>::spin(300); }\n')
    return ''.join(out)


def name_of(text):
    found = re.search(r'work(\d+)<', text)
    return f'work{found[1]}' if found else None


def get_perf():
    """Returns the words that run perf."""
    if platform.machine() != 'x86_64':
        raise Missing('perf is fetched for x86_64')
    TREE.parent.mkdir(parents=True, exist_ok=True)
    with open(TREE.parent / 'perf.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (TREE / 'done').exists():
            packages.unpack_whole(TOP_DIRECTORY / 'build' / 'packages', 'sid', 'amd64', TREE, ['linux-perf'])
            (TREE / 'done').touch()
    return [LIBRARIES / 'ld-linux-x86-64.so.2', '--library-path', LIBRARIES, TREE / 'usr' / 'bin' / 'perf']


def run_perf(perf, *words):
    return subprocess.run([*perf, *words], check=True, capture_output=True, text=True, timeout=200,
                          env={**os.environ, 'PYTHONHOME': str(TREE / 'usr')}).stdout


def by_perf(perf, data):
    script = run_perf(perf, 'script', '--inline', '-F', 'ip,sym', '-i', data)
    return collections.Counter(filter(None, (name_of(sample.strip().split('\n')[0])
                                             for sample in script.split('\n\n') if sample.strip())))


def by_strata(perf, binary, data):
    """Both sample the same run: perf records it, and strata samples perf's child."""
    script = f'profile:hz:{HZ} {{ @[ustack(1)] = count(); }}'
    record = [*perf, 'record', '-q', '-F', str(HZ), '-e', 'cpu-clock:u', '--call-graph', 'fp', '-o', data, binary]
    done = subprocess.run([STRATA, '-q', '-f', 'folded', '-e', script, '-c', ' '.join(map(str, record))], check=True,
                          capture_output=True, text=True, timeout=200, env={**os.environ, 'PYTHONHOME': str(TREE / 'usr')})
    seen = collections.Counter()
    for line in done.stdout.splitlines():
        stack, _, count = line.rpartition(' ')
        name = name_of(stack.split(';')[-1])
        if name:
            seen[name] += int(count)
    return seen


def differs(a, all_a, b, all_b):
    """Returns whether two shares differ by more than chance: four standard errors, and 1 % for the edges of functions."""
    share = (a + b) / (all_a + all_b)
    return abs(a / all_a - b / all_b) > 0.01 + 4 * (share * (1 - share) * (1 / all_a + 1 / all_b)) ** 0.5


def main():
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    try:
        perf = get_perf()
    except Missing as why:
        print(f'1..0 # SKIP {why}')
        return 0
    with tempfile.TemporaryDirectory() as directory:
        source, binary = pathlib.Path(directory) / 'p.cc', pathlib.Path(directory) / 'inline_perf'
        source.write_text(program())
        subprocess.run(['g++', '-O2', '-g', '-fno-omit-frame-pointer', source, '-o', binary], check=True)
        data = pathlib.Path(directory) / 'perf.data'
        ours = by_strata(perf, binary, data)
        theirs = by_perf(perf, data)
    rows = [f'{name}: perf {100 * n / theirs.total():.1f} %, strata {100 * ours[name] / max(ours.total(), 1):.1f} %'
            for name, n in theirs.most_common(TOP)]
    print('\n'.join(f'# {row}' for row in rows))
    hottest = [{name for name, _ in seen.most_common(TOP)} for seen in (theirs, ours)]
    cases.check(len(hottest[0]) == TOP and hottest[0] == hottest[1], f'the same {TOP} hottest functions', *rows)
    apart = [name for name in hottest[0] if differs(theirs[name], theirs.total(), ours[name], max(ours.total(), 1))]
    cases.check(not apart, f'with the same shares: {theirs.total()} and {ours.total()} samples', *rows)
    return cases.done()


sys.exit(main())
