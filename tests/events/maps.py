#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""maps.py STRATA PATHS - maps are read in batches: each element once, with its value, also while elements come and go.
They are shown in order, by values and then by keys. PATHS calls bottom() on many paths (tests/bench/walk/paths.c)."""
import collections
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA, PATHS = sys.argv[1:]
STACKS = 60000  # more than a batch has
KEYS, KEPT, PRINTS = 30000, 1000, 20
DEPTHS = 100
# Each depth calls getppid() in three lines.
LINES = """
import os
def down(n):
    if n:
        return down(n - 1)
    os.getppid()
    os.getppid()
    os.getppid()
for i in range(%d): down(i)
""" % DEPTHS
# Makes elements and removes them until it is killed.
BUSY = "import os\nwhile True: os.getppid()"


def strata(script, *args):
    return subprocess.run([STRATA, '-q', *args, '-e', script], capture_output=True, text=True, timeout=100)


def all_of(cases):
    got = strata(f'''config = {{ max_map_keys = {KEYS} }}
        begin {{ for ($i : 0..{KEYS}) {{
            @number[$i] = -$i; @sum[$i, "a text of a key"] = sum($i); @text[$i] = "a text"; @pair[$i] = ($i, $i + 1);
        }} exit(); }}''')
    for name, line in (('number', '@number[{0}]: -{0}'), ('sum', '@sum[{0}, a text of a key]: {0}'),
                       ('text', '@text[{0}]: a text'), ('pair', '@pair[{0}]: ({0}, {1})')):
        wanted = {line.format(i, i + 1).replace('-0', '0') for i in range(KEYS)}
        seen = [x for x in got.stdout.splitlines() if x.startswith(f'@{name}[')]
        cases.check(len(seen) == KEYS and set(seen) == wanted, f'@{name}: {KEYS} elements, each once',
                    len(seen), *list(wanted - set(seen))[:5], got.stderr)
    values = [int(x.rpartition(' ')[2]) for x in got.stdout.splitlines() if x.startswith('@number[')]
    cases.check(values == sorted(values), '@number is sorted')


def large(cases):
    got = strata('''config = { max_strlen = 200000 }
        begin { for ($i : 0..40) { @long[$i] = str((uint64)0); @long[$i] = "short"; } exit(); }''')
    cases.check(got.stdout.count(': short\n') == 40, 'values that are larger than a batch', got.stdout[-500:], got.stderr)


def meanwhile(cases):
    got = strata(f'''begin {{ for ($i : 0..{KEPT}) {{ @all[$i] = $i; }} }}
        tracepoint:syscalls:sys_enter_getppid /pid == cpid/ {{ @n++; @all[{KEPT} + @n % 1000] = 1;
            delete(@all, {KEPT} + (@n + 500) % 1000); }}
        interval:ms:50 {{ print(@all); printf("printed\\n"); @times++; if (@times == {PRINTS}) {{ clear(@all); exit(); }} }}''',
                 '-c', f'{sys.executable} -c "{BUSY}"')
    prints = got.stdout.split('printed\n')[:PRINTS]
    counts = [collections.Counter(map(int, re.findall(r'^@all\[(\d+)\]', text, re.M))) for text in prints]
    wrong = [(i, k, c[k]) for i, c in enumerate(counts) for k in range(KEPT) if c[k] != 1]
    twice = [(i, k, n) for i, c in enumerate(counts) for k, n in c.items() if n > 1]
    cases.check(len(prints) == PRINTS and not wrong and not twice, f'{PRINTS} prints while elements come and go',
                wrong[:5], twice[:5], got.stderr)
    cases.check(any(k >= KEPT for c in counts for k in c), 'some of these were printed')


TEXT = '"a long text b" : "a long text a"'
# A map, its update for each $i from 0 to 6, and the lines that are shown. Texts differ after the first eight bytes, and
# numbers by their signs.
ORDERED = [
    ('signed', '[$i - 3] = count()', [f'[{i - 3}]: 1' for i in range(7)]),
    ('unsigned', '[(uint64)($i - 3)] = count()', [f'[{(i - 3) % 2 ** 64}]: 1' for i in (3, 4, 5, 6, 0, 1, 2)]),
    ('small', '[(int8)(100 + $i * 10)] = count()', [f'[{i}]: 1' for i in (-126, -116, -106, -96, 100, 110, 120)]),
    ('sums', '[$i] = sum(3 - $i)', [f'[{i}]: {3 - i}' for i in range(6, -1, -1)]),
    ('averages', '[$i] = avg(-$i)', [f'[{i}]: {-i}' for i in range(6, -1, -1)]),
    ('texts', f'[$i % 2 == 0 ? {TEXT}, $i] = count()',
     [f'[a long text a, {i}]: 1' for i in (1, 3, 5)] + [f'[a long text b, {i}]: 1' for i in (0, 2, 4, 6)]),
    ('none', '[$i % 2 == 0 ? "" : "a", $i] = count()',
     [f'[, {i}]: 1' for i in (0, 2, 4, 6)] + [f'[a, {i}]: 1' for i in (1, 3, 5)]),
    ('pairs', '["the same long text", 3 - $i] = count()', [f'[the same long text, {i}]: 1' for i in range(-3, 4)]),
    ('values', f'[$i] = $i % 2 == 0 ? {TEXT}',
     [f'[{i}]: a long text a' for i in (1, 3, 5)] + [f'[{i}]: a long text b' for i in (0, 2, 4, 6)]),
    ('tuples', '[$i] = (7 - $i, "x")', [f'[{i}]: ({7 - i}, x)' for i in range(6, -1, -1)]),
]


def shown(cases):
    updates = ' '.join(f'@{name}{update};' for name, update, _ in ORDERED)
    got = strata(f'begin {{ for ($i : 0..7) {{ {updates} }} exit(); }}')
    for name, _, wanted in ORDERED:
        lines = [x for x in got.stdout.splitlines() if x.startswith(f'@{name}[')]
        cases.check(lines == [f'@{name}{x}' for x in wanted], f'the order of @{name}', *lines, got.stderr)


def stacks(cases):
    """Each call has another path, so each stack has been seen once."""
    child = subprocess.Popen([PATHS, '0'])
    try:
        got = strata(f'''config = {{ max_map_keys = 200000 }}
            uprobe:{PATHS}:bottom /pid == {child.pid} && @n < {STACKS}/ {{ @[ustack(raw)] = count(); @n++; }}
            uprobe:{PATHS}:bottom /@n >= {STACKS}/ {{ exit(); }}''')
    finally:
        child.kill()
        child.wait()
    seen = collections.Counter(re.findall(r'^@\[\n(.*?)\]: ', got.stdout, re.M | re.S))
    total = sum(map(int, re.findall(r'^\]: (\d+)$', got.stdout, re.M)))
    cases.check(len(seen) > STACKS * 0.9 and max(seen.values(), default=0) == 1 and total == STACKS,
                f'{STACKS} stacks, each once', len(seen), total, seen.most_common(1), got.stderr)


def equal(cases):
    """Stacks that differ in a line are one entry of pystack(func), not of pystack(line)."""
    got = strata('tracepoint:syscalls:sys_enter_getppid { @[pystack(func)] = count(); @all[pystack(line)] = count(); }', '-c',
                 f"/usr/bin/python3 -c '{LINES}'")
    for name, wanted in ('', [3] * DEPTHS), ('all', [1] * 3 * DEPTHS):
        entries = re.findall(rf'^@{name}\[\n(.*?)^\]: (\d+)', got.stdout, re.M | re.S)
        entries = [int(n) for frames, n in entries if 'down' in frames]
        cases.check(entries == wanted, f'@{name}: {len(wanted)} entries of {wanted[0]}', len(entries), set(entries), got.stderr)


cases = Cases()
all_of(cases)
large(cases)
meanwhile(cases)
shown(cases)
stacks(cases)
equal(cases)
sys.exit(cases.done())
