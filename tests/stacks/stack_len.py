#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stack_len.py STRATA - len(ustack) is right, or reported as not known, at the first events of a new program
without unwind tables."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
PROG = '''
__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
__attribute__((noinline)) void deep(int n) { if (n) deep(n - 1); else leaf(); __asm__ volatile(""); }
int main(void) { for (int i = 0; i < 20; i++) deep(5); return 0; }
'''
LENGTHS = {'len(ustack)': 'len(ustack)', 'a stored stack': '{ $s = ustack; len($s) }'}


def run(prog, length):
    """Returns ({length: count}, messages) of all events of the program, which runs after strata has attached."""
    script = (f'config = {{ all_processes = true }} uprobe:{prog}:leaf {{ @[{length}] = count(); }} '
              f'tracepoint:sched:sched_process_exit /comm == "{os.path.basename(prog)}"/ {{ exit(); }}')
    strata = subprocess.Popen([STRATA, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in strata.stderr:
        if 'Attached' in line:
            break
    subprocess.run([prog], check=True)
    out, err = strata.communicate(timeout=60)
    return {int(n): int(k) for n, k in re.findall(r'^@\[(\d+)\]: (\d+)$', out, re.M)}, err


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
for name, length in LENGTHS.items():
    with tempfile.TemporaryDirectory() as dir:
        # A program that is not in a cache. Its name is its own: other tests' programs end meanwhile.
        program = f'{dir}/len{os.getpid()}'
        subprocess.run(['cc', '-O1', '-Wl,--build-id=none', '-o', program, '-xc', '-'], input=PROG, text=True, check=True)
        seen, said = run(program, length)
        unknown = seen.pop(0, 0)
        reported = sum(map(int, re.findall(r'(\d+) lengths? of (?:a stack was|stacks were) not known yet', said)))
        reported += not reported and len(re.findall(r'the length of the stack is not known yet', said))
        cases.check(sum(seen.values()) + unknown == 20 and len(seen) <= 1 and all(n > 8 for n in seen) and
                    unknown == reported, f'{name}: {unknown} of 20 not known', seen, unknown, said)
sys.exit(cases.done())
