#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools.py STRATA [VERSION]... - tools on a Java program (Alloc.java): alloc --java finds its allocations, locks the class of
the monitor and the method that waits; in mode full a stack has the frames that Java hides."""
import pathlib
import re
import subprocess
import sys
import tempfile

import busy
import javas

HERE = pathlib.Path(__file__).resolve().parent


def bytes_of(text, method):
    """Returns the bytes of stacks whose innermost method of the program is this one."""
    total = 0
    for stack, n in re.findall(r'^@bytes\[(.*?)^\]: (\d+)$', text, re.M | re.S):
        own = [line.split()[0] for line in stack.splitlines() if line.strip().startswith('Alloc.')]
        total += int(n) if own[:1] == ['Alloc.' + method] else 0
    return total


def check(strata, name, classes):
    def run(*args):
        return subprocess.run([strata, *args, '-p', str(program.pid)], capture_output=True, text=True, errors='replace')
    with subprocess.Popen([*javas.command(name), '-XX:+DTraceMonitorProbes', '-cp', classes, 'Alloc', '60']) as program:
        try:
            busy.has_run(program.pid)
            alloc = run('alloc', '--java', '-d', '2')
            locks = run('locks', '-d', '2')
            full = run('-e', 'profile:hz:199 { @[ustack(full)] = count(); } interval:s:2 { exit(); }')
        finally:
            program.kill()
    small, large = bytes_of(alloc.stdout, 'small'), bytes_of(alloc.stdout, 'large')
    waits = re.findall(r'^@java_us\[[^,]*, Alloc\$Lock, (.*?)^\]', locks.stdout, re.M | re.S)
    results = {
        'alloc --java': small > 1 << 20 and large > 8 << 20,
        'locks': any('Alloc.holds' in stack for stack in waits),
        'hidden frames': bool(re.search(r'Alloc\$\$Lambda\S*\.get', full.stdout)),
    }
    for what, fine in results.items():
        print(f'{"ok" if fine else "not ok"} {name}: {what}', flush=True)
    if not all(results.values()):
        print(small, large, alloc.stdout[-1500:], alloc.stderr, locks.stdout[-1500:], locks.stderr, full.stdout[-1500:], full.stderr)
    return all(results.values())


def main(strata, *names):
    failed = False
    with tempfile.TemporaryDirectory(dir=javas.CACHE.parent) as classes:
        for name in names or ('11', '17', '21', '25', '26'):
            try:
                javas.compiled(HERE / 'Alloc.java', classes)
                failed |= not check(strata, name, classes)
            except javas.Missing as e:
                failed |= javas.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
