#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""probed.py STRATA - samples of a thread that runs the copy of an instruction which a uprobe replaced: their stacks begin at
the instruction's own place, and are whole. Root."""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
# It prints the mapping that has the copies.
PROGRAM = '''import os, time
end = time.monotonic() + 2
while time.monotonic() < end: os.getppid()
print(*(line for line in open('/proc/self/maps') if line.endswith('[uprobes]\\n')), flush=True)
'''
SCRIPT = 'uprobe:libc:getppid { @calls = count(); } profile:hz:1999 /pid == cpid/ { @[ustack(addr)] = count(); }'


def main():
    cases = Cases()
    with tempfile.NamedTemporaryFile('w', suffix='.py') as program:
        program.write(PROGRAM)
        program.flush()
        done = subprocess.run([STRATA, '-q', '-e', SCRIPT, '-c', f'/usr/bin/python3 {program.name}'], capture_output=True,
                              text=True)
    stacks = [(stack.split('\n'), int(n)) for stack, n in re.findall(r'^@\[\n((?:\s.*\n)+)\]: (\d+)', done.stdout, re.M)]
    total = sum(n for _, n in stacks)
    area = re.search(r'^(\w+)-(\w+) .*\[uprobes\]$', done.stdout, re.M)
    first, end = (int(n, 16) for n in area.groups()) if area else (0, 0)
    # The process is still a copy of strata until it begins the program: these samples have unknown addresses, too.
    unknown = [stack for stack, _ in stacks if re.match(r'\s+0x', stack[0])]
    copies = [stack for stack in unknown if first <= int(stack[0], 16) < end]
    at_probe = sum(n for stack, n in stacks if re.match(r'\s+\w*getppid\+', stack[0]))
    broken = [stack for stack, _ in stacks if any('frame pointer' in line for line in stack)]
    cases.check(re.search(r'^@calls: \d{3}', done.stdout, re.M) and total > 100 and area, 'calls and samples', done)
    cases.check(at_probe > total / 20, f'samples at the probe: {at_probe} of {total}', done.stdout[-3000:])
    cases.check(not copies, 'none begins in the copy', *copies)
    cases.check(not broken, 'none ends in the copy', *broken)
    sys.exit(cases.done())


main()
