#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py STRATA CALLS [ERLANG...] - compares process_info(self(), current_stacktrace) with beamstack and with Erlang's
frames of ustack, frame by frame, for random stacks: module, function, arity, file and line. Erlang's account has equal
frames that follow each other only once. An ERLANG is a name of beams.py. Prints TAP."""
import itertools
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import absent
import beams
import traced
from tap import Cases

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
ENOUGH = 0.999
SCRIPT = '''tracepoint:syscalls:sys_enter_getrusage /pid == %d/ {
    printf("beamstack%%s\\n", beamstack(16384));
    printf("ustack%%s\\n", ustack(16384));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|<runtime>$')


def stacks(printed):
    """Yields (kind, frames) of each stack."""
    kind, frames = None, []
    for line in (raw.decode().strip() for raw in printed):
        if line in ('beamstack', 'ustack'):
            kind, frames = line, []
        elif line and (kind == 'beamstack' or not NATIVE.match(line)):
            frames.append(line)
        elif not line and kind:
            yield kind, frames
            kind = None


def once(frames):
    return [frame for frame, _ in itertools.groupby(frames)]


def build(name, directory):
    beams.compile_module(name, HERE / 'account.erl', directory)
    for version, options in ((1, ()), (2, ('MORE',))):
        more = pathlib.Path(directory) / f'more-{version}'
        more.mkdir()
        beams.compile_module(name, HERE / 'account_more.erl', more, *options)


def compare(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        build(name, directory)
        process = traced.start(*beams.command(name, directory, 'account', CALLS, directory), cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        lines, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    accounts = [[frame for frame in line.decode().rstrip('\n').split('\t') if frame] for line in lines]
    found = {'beamstack': [], 'ustack': []}
    for kind, frames in stacks(printed):
        found[kind].append(frames)
    for kind, have in found.items():
        right = [once(frames) == once(account) for frames, account in zip(have, accounts)]
        wrong = right.index(False) if False in right else 0
        cases.check(len(have) == len(accounts) >= int(CALLS) and sum(right) >= ENOUGH * len(accounts),
                    f'{name} {version}: {kind}: {sum(right)} of {len(accounts)} stacks agree', len(have),
                    *map(' | '.join, have[wrong:wrong + 1] + accounts[wrong:wrong + 1]), said.decode())


def main():
    cases = Cases()
    for name in NAMES or beams.names():
        try:
            beams.get(name)
        except absent.Missing as e:
            cases.count += 1
            cases.failed += absent.tap_fails(cases.count, name, e)
            continue
        compare(cases, name)
    return cases.done()


sys.exit(absent.as_root(main))
