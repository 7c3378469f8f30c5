#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""endbr.py STRATA PROGRAM - probes of functions that begin with endbr64: the kernel does not emulate that instruction, so
the probe is on the next one. Names, addresses, stacks and counts are those of the function's start."""
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA, PROGRAM = sys.argv[1:]
CALLS, ROUNDS = 20000, 5
TRACING = pathlib.Path('/sys/kernel/tracing')


def strata(script, n):
    done = subprocess.run([STRATA, '-q', '-c', f'{PROGRAM} {n}', '-e', script.replace('PROGRAM', PROGRAM)],
                          capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def address(name):
    table = subprocess.run(['nm', PROGRAM], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf'^(\w+) T {name}$', table, re.M).group(1), 16)


def start(name):
    return address(name) & 0xfff


def define(event):
    fd = os.open(TRACING / 'uprobe_events', os.O_WRONLY | os.O_APPEND)
    os.write(fd, event.encode() + b'\n')
    os.close(fd)


@contextlib.contextmanager
def breakpoint_at(name):
    """Lets the kernel probe the first instruction of a function for the tracing file system."""
    at = address(name)
    table = subprocess.run(['readelf', '-lW', PROGRAM], capture_output=True, text=True, check=True).stdout
    for offset, vaddr, size in re.findall(r'^ +LOAD +(\w+) (\w+) \w+ (\w+)', table, re.M):
        if 0 <= at - int(vaddr, 16) < int(size, 16):
            offset = at - int(vaddr, 16) + int(offset, 16)
            break
    event = f'strata_endbr_{os.getpid()}'
    define(f'p:{event} {PROGRAM}:{offset:#x}')
    enable = TRACING / 'events' / 'uprobes' / event / 'enable'
    try:
        enable.write_text('1')
        yield
    finally:
        enable.write_text('0')
        define(f'-:{event}')


def main(cases):
    got = strata('''uprobe:PROGRAM:marked { @ip[reg("ip") & 0xfff, usym(reg("ip")), func] = count(); }
        uprobe:PROGRAM:marked { @stack[ustack(1)] = count(); @arg = max(arg0); @length[len(ustack(2))] = count(); }
        uretprobe:PROGRAM:marked { @returned[func] = count(); @sum = sum(retval); }''', 1000)
    cases.check(f'@ip[{start("marked")}, marked, marked]: 1000\n' in got, 'ip, its symbol and func', got)
    cases.check(re.search(r'@stack\[\n\s+marked\+0\n\]: 1000', got), 'the stack begins at the function', got)
    cases.check('@arg: 999\n' in got and '@length[2]: 1000\n' in got, 'the argument, and a length', got)
    cases.check('@returned[marked]: 1000\n' in got and '@sum: 500500\n' in got, 'returns', got)

    got = strata('uprobe:PROGRAM:marked,uprobe:PROGRAM:marked+4,uprobe:PROGRAM:plain { @[probe, reg("ip") & 0xfff] = count(); }',
                 1000)
    for name, offset in ('marked', 0), ('marked', 4), ('plain', 0):
        text = f'{name}+{offset}' if offset else name
        cases.check(f':{text}, {start(name) + offset}]: 1000\n' in got, f'{text} next to others', got)

    got = strata('uprobe:PROGRAM:* { @[func, usym(reg("ip")), reg("ip") & 0xfff] = count(); }', 1000)
    for name, n in ('marked', 1000), ('plain', 1000), ('loops', 100):
        cases.check(f'@[{name}, {name}, {start(name)}]: {n}\n' in got, f'{name} of a pattern', got)
    with breakpoint_at('marked'):
        got = strata('uprobe:PROGRAM:* { @[func, reg("ip") & 0xfff, ustack(1)] = count(); }', 1000)
    cases.check(f'@[marked, {start("marked")}, \n        marked+0\n]: 1000\n' in got,
                "another tracer's breakpoint at endbr64", got)
    got = strata('uprobe:PROGRAM:loops { @ = count(); }', 1000)
    cases.check('@: 100\n' in got, 'a jump to the next instruction is not a call', got)

    ratios = []
    for _ in range(ROUNDS):
        got = strata('uprobe:PROGRAM:marked { @a = count(); } uprobe:PROGRAM:plain { @b = count(); }', CALLS)
        marked, plain = map(int, re.search(r'^(\d+) (\d+)$', got, re.M).groups())
        ratios.append(marked / plain)
    # Where the kernel steps over endbr64 this is 4 to 9.
    cases.check(statistics.median(ratios) < 2, f'an event costs as much as at a push: {ratios}', got)


cases = Cases()
main(cases)
sys.exit(cases.done())
