#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steps.py - steps threads of Java programs in each kind of code, and walks their stacks at each instruction:

    steps.py STEPS INSTRUCTIONS [VERSION:MODE]...

The threads are those of ../cores/Core.java, which knows their stacks. Of ten thousand stacks WRONG may be wrong."""
import pathlib
import subprocess
import sys
import tempfile

import javas

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'cores'))
import replay

WRONG = 20
COMPLETE = '0'  # enum unwind_end
KINDS = ['spin', *replay.MOVING]


def check(steps, instructions, name, command):
    """Returns whether all threads of the program are walked right."""
    fine = True
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        accounts = replay.accounts_of(iter(program.stdout.readline, 'there\n'))
        for kind in KINDS:
            tid, account = accounts[kind]
            done = subprocess.run([steps, str(program.pid), tid, instructions], capture_output=True, text=True)
            total, wrong, examples = 0, 0, []
            for line in done.stdout.splitlines():
                n, end, *frames = line.split('\t')
                total += int(n)
                why = f'end {end}: {frames}' if end != COMPLETE else replay.compare_java(kind, account, frames)
                if why:
                    wrong += int(n)
                    examples.append((int(n), why, frames[:3]))
            good = total == int(instructions) and wrong * 10000 <= total * WRONG
            print(f'{"ok" if good else "not ok"} {name} {kind}: {wrong} of {total} stacks wrong {done.stderr.strip()}', flush=True)
            for n, why, frames in sorted(examples, reverse=True)[:3 if good else 10]:
                print(f'  {n}: {why}\n     {frames}')
            fine &= good
        program.kill()
    return fine


def main(steps, instructions, *cases):
    failed = False
    with tempfile.TemporaryDirectory(dir=javas.CACHE.parent) as classes:
        for case in cases or [f'{n}:{m}' for n in javas.names() for m in ('default', 'int', 'c1', 'c2')]:
            name, mode = case.split(':')
            try:
                javas.compiled(replay.HERE / 'Core.java', classes)
                command = [*javas.command(name, mode), '-cp', classes, 'Core', '20' if mode == 'int' else '12000']
                failed |= not check(steps, instructions, case, command)
            except javas.Missing as e:
                failed |= javas.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
