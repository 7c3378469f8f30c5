#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steps.py - steps threads of Core.java in each kind of code, and walks their stacks at each instruction, in an emulated
arm64 machine. To be run by hand; on x86_64, a thread that is stepped through HotSpot's safepoint dies, because the code
there pushes and pops the flags.

    steps.py INSTRUCTIONS [VERSION[:HOW]]...      build/arm64 has steps"""
import sys

import make_java
import make_node

INSIDE = make_java.PREPARE + r'''
import sys
import replay

COMPLETE = '0' # enum unwind_end
SHOWN = 6      # wrong stacks

def judge(kind, account, lines):
    """Returns the number of stacks, and (number, reason) of each wrong one."""
    total, wrong = 0, []
    for line in lines:
        n, end, *frames = line.split('\t')
        total += int(n)
        why = f'end {end}: {frames}' if end != COMPLETE else replay.compare_java(kind, account, frames)
        if why:
            wrong.append((int(n), f'{why}\n    {frames[:4]}'))
    return total, sorted(wrong, reverse=True)

def step(how, rounds, options):
    command = [java, *options, '-Xmx1g', '-Xmn900m', '-cp', '/cores', 'Core', rounds]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        accounts = replay.accounts_of(iter(program.stdout.readline, 'there\n'))
        for kind in ('spin', *replay.MOVING):
            tid, account = accounts[kind]
            done = subprocess.run(['./steps', str(program.pid), tid, INSTRUCTIONS], capture_output=True, text=True)
            total, wrong = judge(kind, account, done.stdout.splitlines())
            print(f'{how} {kind}: {sum(n for n, _ in wrong)} of {total} stacks wrong {done.stderr.strip()}', flush=True)
            for n, why in wrong[:SHOWN]:
                print(f'  {n}: {why}')
        program.kill()

for line in open('cases'):
    how, rounds, *options = line.split()
    if how in HOWS:
        step(how, rounds, options)
'''


def main(instructions, *versions):
    for version in versions or make_java.VERSIONS:
        version, _, how = version.partition(':')
        given = f'INSTRUCTIONS, HOWS = {instructions!r}, {[how] if how else [c[0] for c in make_java.CASES]!r}\n'
        print(version, flush=True)
        make_java.boot(version, given + INSIDE, make_node.SLIM.with_name('steps'), make_java.HERE / 'replay.py')


if __name__ == '__main__':
    main(*sys.argv[1:])
