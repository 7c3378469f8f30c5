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
import accounts
import beams
import traced

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
SCRIPT = '''tracepoint:syscalls:sys_enter_getrusage /pid == %d/ {
    printf("beamstack%%s\\n", beamstack(16384));
    printf("ustack%%s\\n", ustack(16384));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|<runtime>$')


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
    noted = [[frame for frame in line.decode().rstrip('\n').split('\t') if frame] for line in lines]
    accounts.compare(cases, f'{name} {version}', accounts.stacks(printed, 'beamstack', NATIVE), noted, CALLS,
                     lambda frames, account: once(frames) == once(account), said, ' | '.join)


sys.exit(accounts.each(NAMES or beams.names(), beams.get, compare))
