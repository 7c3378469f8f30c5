#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slots.py STRATA - strata makes new slots for tables after new files have used them, so that a file's table
never waits for an RCU grace period."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from absent import as_root
from tap import Cases
from waits import comes

STRATA = sys.argv[1]
PROGRAMS = 16
FUNCTIONS = 1000  # their table has between 16 and 128 KiB, the second size of slots
FLAGS, ENTRIES = 0x1000, (128 << 10) // 2048  # BPF_F_INNER_MAP of linux/bpf.h; chunks of 2048 bytes
SOURCE = '#include <time.h>\nvolatile int sum;\n' + ''.join(
    f'int f{i}(int n) {{ char room[{16 + 16 * (i % 50)}]; room[n] = (char)n; sum += room[n / 2]; '
    f'return clock() > n ? sum + {i} : sum; }}\n' for i in range(FUNCTIONS)) + '''
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 10;

    while (clock() < end)
        f7(1);
    return sum == 42 ? f%d(3) : 0;
}
''' % (FUNCTIONS - 1)

cases = Cases()


def ready(pid):
    """Returns the number of slots of that size that strata has."""
    found = 0
    for info in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
        try:
            fields = dict(re.findall(r'^(\w+):\s*(\S+)$', info.read_text(), re.M))
        except OSError:
            continue
        found += (fields.get('map_flags'), fields.get('max_entries')) == (f'{FLAGS:#x}', str(ENTRIES))
    return found


def test(directory):
    program = directory / 'program'
    subprocess.run(['cc', '-O0', '-Wl,--build-id=0x' + 20 * '5a', '-x', 'c', '-', '-o', program], input=SOURCE,
                   text=True, check=True)
    data, id = program.read_bytes(), 20 * b'\x5a'
    traced = subprocess.Popen([STRATA, '-e', 'profile:hz:199 { @[ustack] = count(); }'], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env={**os.environ, 'STRATA_CACHE_DIR': str(directory / 'cache')})
    cases.check(comes(lambda: ready(traced.pid) >= 6), 'slots at the start', ready(traced.pid))
    for n in range(PROGRAMS):
        path = directory / f'p{n}'
        path.write_bytes(data.replace(id, os.urandom(20)))
        path.chmod(0o755)
        subprocess.run([path], check=True)
    # strata makes new slots when fewer than four are left.
    cases.check(comes(lambda: ready(traced.pid) >= 3), f'..and after {PROGRAMS} files that took one each', ready(traced.pid))
    traced.terminate()
    cases.check(traced.wait(20) == 0, 'strata ends')


def main():
    with tempfile.TemporaryDirectory() as name:
        os.mkdir(f'{name}/cache', 0o700)
        test(pathlib.Path(name))
    return cases.done()


sys.exit(as_root(main))
