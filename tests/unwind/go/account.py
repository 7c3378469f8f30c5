#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - compares gostack with Go's own account, frame by frame (name, file, line), for
thousands of stacks of random shape and depth.

    account.py STRATA PROGRAM [CALLS [DEEPEST]]      root; PROGRAM: see program.go"""
import os
import pathlib
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import traced

SCRIPT = r'''tracepoint:syscalls:sys_enter_getppid { printf("stack %d%s\n", len(gostack), gostack(16384)); }'''
# Functions between Go's and C's frames: Go's own account has a stand-in for them.
GLUE = (b'crosscall2 ', b'runtime.asmcgocall ', b'runtime.systemstack_switch ')
# The account begins with its caller.
OWN = b'main.probe '


def stacks(out):
    """Yields (len, frames, checksum, marks, text) of each stack, from probe's caller on."""
    length, depth, crc, marks, text = None, 0, 0, [], []
    for line in out:
        line = line.strip()
        if line.startswith(b'stack '):
            length, depth, crc, marks, text = int(line[6:]), 0, 0, [], []
        elif line.startswith(b'['):
            marks.append(line.decode())
        elif line and not line.startswith(GLUE):
            depth += 1
            crc = zlib.crc32(line + b'\n', crc)
            text.append(line)
            if line.startswith(OWN):
                depth, crc, text = 0, 0, []
        elif not line and length is not None:
            yield length, depth, crc, marks, text
            length = None


def compare(told_lines, out):
    n = wrong = deepest = 0
    for line, (length, depth, crc, marks, text) in zip(told_lines, stacks(out)):
        want_depth, want_crc = map(int, line.split())
        n += 1
        deepest = max(deepest, want_depth)
        if (depth, crc, marks) != (want_depth, want_crc, []) or not length:
            wrong += 1
            if wrong < 6:
                print(f'# stack {n}: len {length}, {depth} frames, checksum {crc:x} {marks}; '
                      f'Go says {want_depth}, {want_crc:x}')
                print('#', b'\n# '.join(text[:40]).decode())
    return n, wrong, deepest


def main(strata, program, calls=1000, deepest=2000):
    lines, printed, said = traced.beside(traced.start(program, calls, deepest), strata, SCRIPT)
    n, wrong, deepest = compare(lines, printed)
    print(f'# {program}: {n} stacks of {len(lines)} calls, up to {deepest} frames deep, '
          f'{wrong} differ')
    if said.strip():
        print('# strata said:', said.decode().strip().replace('\n', '\n# '))
    return wrong > 0 or n != len(lines) or n < int(calls) // 2


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
