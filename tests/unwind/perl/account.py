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
import accounts
import perls
import traced

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
SCRIPT = '''tracepoint:syscalls:sys_enter_getpgid /pid == %d/ {
    printf("perlstack%%s\\n", perlstack(4096));
    printf("ustack%%s\\n", ustack(4096));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|.* \S+\.(c|h|S):\d+$')


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
    noted = []
    for line in lines:
        words = line.decode().rstrip('\n').split('\t')
        noted.append(list(zip(words[::2], words[1::2])))
    accounts.compare(cases, f'Perl {version}', accounts.stacks(printed, 'perlstack', NATIVE), noted, CALLS,
                     agree, said)


sys.exit(accounts.each(NAMES or perls.names(), perls.get, compare))
