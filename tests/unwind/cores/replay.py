#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replay.py - recorded arm64 processes, walked as their cores: the thread that died beside
what its program had told of itself, frame by frame (name, file, line), and every thread to
its end. See make.py.

    replay.py STRATA"""
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# How Go and C are stuck together: Go's account has a stand-in for what is really there.
GLUE = ('crosscall2 ', 'runtime.asmcgocall ', 'runtime.systemstack_switch ')
IS_C = re.compile(r'\+\d+$')  # Go's frames end in a line
# The innermost frames, by what it died of; the account begins behind main.probe.
INNERMOST = {'leaf': ['main.leaf', 'main.die', 'main.init.'],
             'copy': ['runtime.memmove', 'main.copies', 'main.die', 'main.init.']}


def threads(strata, core, exe):
    """The lines of each thread's stack."""
    out = subprocess.run([strata, '--unwind', core, '--exe', exe], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [[line.strip() for line in part.splitlines()[1:] if line.strip()] for part in out.split('\n\n') if part.strip()]


def compare(how, told, stacks):
    """What is wrong, or None."""
    for n, stack in enumerate(stacks):
        marks = [line for line in stack if line.startswith('[')]
        if marks or not stack:
            return f'thread {n}: {marks or "no frames"}: {stack}'
    died = stacks[0]
    start = next((i for i, line in enumerate(died) if line.startswith('main.probe ')), None)
    if start is None:
        return f'no probe: {died}'
    for name, line in zip(INNERMOST.get(how, []), died):
        if not line.startswith(name):
            return f'{line}, not {name}'
    got = [line for line in died[start + 1:] if not line.startswith(GLUE) and not IS_C.search(line)]
    for n, (a, b) in enumerate(zip(told, got)):
        if a != b:
            return f'frame {n}: {b}; Go says {a}'
    return None if len(told) == len(got) else f'{len(got)} frames; Go says {len(told)}: {got[-3:]}'


def main(strata):
    cores = sorted(HERE.glob('*.core.xz'))
    print(f'1..{len(cores)}')
    failed = not cores
    with tempfile.TemporaryDirectory() as d:
        core, exe = pathlib.Path(d, 'core'), pathlib.Path(d, 'exe')
        for n, path in enumerate(cores, 1):
            name = path.name.removesuffix('.core.xz')
            program, case = name.rsplit('.', 1)
            core.write_bytes(lzma.decompress(path.read_bytes()))
            exe.write_bytes(lzma.decompress((HERE / f'{program}.exe.xz').read_bytes()))
            told = (HERE / f'{name}.account').read_text().splitlines()
            stacks = threads(strata, core, exe)
            wrong = compare(case.partition('-')[2], told, stacks)
            print(f"{'not ' if wrong else ''}ok {n} - {name}: {len(told)} frames, {len(stacks)} threads")
            if wrong:
                print('#', wrong)
            failed |= bool(wrong)
    return failed


sys.exit(main(*sys.argv[1:]))
