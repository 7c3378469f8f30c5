#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""many_stacks.py STRATA - a map keyed by stacks holds far more of them than the default of max_map_keys: a long
profile has many that differ only by an address. A number of keys in the script takes precedence."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
BITS = 14  # 2^BITS stacks
PROG = '''
__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
#define CALL(f) do { f(bits - 1, way >> 1); __asm__ volatile(""); } while (0)
void left(int bits, unsigned way), right(int bits, unsigned way);
#define FUNCTION(name) __attribute__((noinline)) void name(int bits, unsigned way) \\
    { if (!bits) leaf(); else if (way & 1) CALL(right); else CALL(left); __asm__ volatile(""); }
FUNCTION(left)
FUNCTION(right)
int main(void)
{
    for (unsigned way = 0; way < 1u << %d; way++)
        left(%d, way);
    return 0;
}
''' % (BITS, BITS)


def folded(prog, config=''):
    """Returns (number of stacks, number of events, messages)."""
    done = subprocess.run([STRATA, '-f', 'folded', '-e', f'{config} uprobe:{prog}:leaf {{ @[ustack(raw)] = count(); }}',
                           '-c', prog], capture_output=True, text=True, timeout=100)
    lines = [line.rsplit(' ', 1) for line in done.stdout.splitlines() if line]
    return len(lines), sum(int(n) for _, n in lines), done.stderr


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    prog = f'{dir}/prog'
    subprocess.run(['cc', '-O1', '-o', prog, '-xc', '-'], input=PROG, text=True, check=True)
    stacks, events, said = folded(prog)
    cases.check(events == 1 << BITS and 'lost' not in said, f'{1 << BITS} stacks', stacks, events, said)
    stacks, events, said = folded(prog, 'config = { max_map_keys = 4096 }')
    cases.check(events == 4096 and re.search(rf'\b{(1 << BITS) - 4096} updates', said), 'max_map_keys is kept', stacks, events,
                said)
sys.exit(cases.done())
