#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py STRATA CALLS [PERL...] - compares caller() with perlstack and with Perl's frames of ustack, frame by frame,
for random stacks: sub, file and line. A PERL is a name of perls.py. Prints TAP."""
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import absent
import perls
import traced
from tap import Cases

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
ENOUGH = 0.999
SCRIPT = '''tracepoint:syscalls:sys_enter_getpgid /pid == %d/ {
    printf("perlstack%%s\\n", perlstack(4096));
    printf("ustack%%s\\n", ustack(4096));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|.* \S+\.(c|h|S):\d+$')


def stacks(printed):
    """Yields (kind, frames) of each stack."""
    kind, frames = None, []
    for line in (raw.decode().strip() for raw in printed):
        if line in ('perlstack', 'ustack'):
            kind, frames = line, []
        elif line and (kind == 'perlstack' or not NATIVE.match(line)):
            frames.append(line)
        elif not line and kind:
            yield kind, frames
            kind = None


def agree(frames, account):
    """caller() does not show blocks of sort, whose line it gives to the sub that sorts."""
    seen, line = [], None
    for frame in frames:
        name, place = frame.split(' ', 1)
        if name == '(sort)':
            line = line or place
            continue
        seen.append((name, line or place))
        line = None
    return seen == account


def compare(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        program = pathlib.Path(directory) / 'account.pl'
        program.write_bytes((HERE / 'account.pl').read_bytes())
        process = traced.start('env', 'LC_ALL=C', perls.get(name), program, CALLS, 1, cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        lines, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    accounts = []
    for line in lines:
        words = line.decode().rstrip('\n').split('\t')
        accounts.append(list(zip(words[::2], words[1::2])))
    found = {'perlstack': [], 'ustack': []}
    for kind, frames in stacks(printed):
        found[kind].append(frames)
    for kind, have in found.items():
        right = [agree(frames, account) for frames, account in zip(have, accounts)]
        wrong = right.index(False) if False in right else 0
        detail = have[wrong:wrong + 1] + accounts[wrong:wrong + 1]
        cases.check(len(have) == len(accounts) == int(CALLS) and sum(right) >= ENOUGH * len(accounts),
                    f'Perl {version}: {kind}: {sum(right)} of {len(accounts)} stacks agree', len(have), *detail, said.decode())


def main():
    cases = Cases()
    for name in NAMES or perls.names():
        try:
            perls.get(name)
        except absent.Missing as e:
            cases.count += 1
            cases.failed += absent.tap_fails(cases.count, name, e)
            continue
        compare(cases, name)
    return cases.done()


sys.exit(absent.as_root(main))
