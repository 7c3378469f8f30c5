#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""maps.py STRATA - maps are read in batches: each element once, with its value, also while elements come and go."""
import collections
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
KEYS, KEPT, PRINTS = 30000, 1000, 20
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


cases = Cases()
all_of(cases)
large(cases)
meanwhile(cases)
sys.exit(cases.done())
