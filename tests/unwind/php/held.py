#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""held.py STRATA PHP... - compares PHP's own account with the PHP frames of strata --unwind, which stops the
process and walks it with the kernel's code, built for the host. PHP: see account.py."""
import pathlib
import subprocess
import sys
import tempfile

import account
import phps
import waits
from account import HERE, absent

STACKS = 40


def walked(strata, pid):
    done = subprocess.run([strata, '--unwind', str(pid)], capture_output=True, check=True)
    stack = account.Stack(b'ustack 0')
    for line in done.stdout.splitlines()[3:]: # after the process, an empty line, and the thread
        stack.add(line.strip())
    stack.length = stack.depth
    return stack


def compare(strata, name, mode):
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        program = [str(HERE / 'account.php'), str(STACKS), '3', directory, 'held']
        process = subprocess.Popen([*phps.command(name, mode), *program], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        try:
            version = process.stdout.readline().decode().strip()
            for n in range(STACKS):
                process.stdin.write(b'go\n')
                process.stdin.flush()
                depth, names, whole = map(int, process.stdout.readline().split())
                waits.reading(process.pid)
                stack = walked(strata, process.pid)
                if not stack.agrees(depth, names) or stack.whole != whole or stack.first != b'fgets':
                    wrong += 1
                    print(f'  {n}: {stack.depth} frames, {stack.names:x} {stack.whole:x} {stack.first} {stack.marks}; '
                          f'PHP says {depth}, {names:x} {whole:x}')
        finally:
            process.kill()
            process.wait()
    print(f'php {name} {mode} ({version}): {wrong} of {STACKS} differ', flush=True)
    return not wrong and phps.is_in_mode(version, mode)


def main(strata, *names):
    ok = True
    for name, mode in account.wanted(names):
        try:
            ok &= compare(strata, name, mode)
        except absent.Missing as why:
            ok &= not phps.fails(name, why)
    return not ok


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
