#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""moved.py - stacks of an unknown program (deep.c), which userspace has to finish while the
program continues: each is right, or has a mark. Root.

    moved.py STRATA DEEP [CALLS]"""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import waits
from traced import attached

SCRIPT = 'tracepoint:syscalls:sys_enter_getppid /comm == "%s"/ { printf("stack%%s\\n", ustack); }'
ROUNDS = 5
# The first calls come before the program is known; a slow machine needs more of them.
CALLS = 300 * int(os.environ.get('STRATA_SLOW', 1))


def look(strata, deep, calls):
    """Returns the numbers (right, marked, wrong) of one run."""
    with tempfile.TemporaryDirectory() as directory:
        program = shutil.copy(deep, f'{directory}/deep{os.getpid() % 10000}')
        tracer = subprocess.Popen([strata, '-e', SCRIPT % os.path.basename(program)], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        attached(tracer)
        printed = subprocess.run([program, str(calls)], check=True, capture_output=True, text=True).stdout.split()
        tracer.terminate()
        return judge(tracer.communicate()[0], printed)


def judge(out, printed):
    right = wrong = 0
    marks = collections.Counter()
    out = out[:out.rfind('\n\n') + 2] # on a busy machine the last one may be cut
    for stack in out.split('stack\n')[1:]:
        frames = [line.strip().split('+')[0] for line in stack.split('\n') if line.strip()]
        names = ''.join(f for f in frames if f in 'ab')
        if frames[-1].startswith('['):
            marks[frames[-1]] += 1
        elif re.fullmatch('a', names[-1:]) and names[:-1] in printed and frames[-1] == '_start':
            right += 1
        else:
            wrong += 1
            if wrong < 4:
                print('# wrong:', *frames)
    for mark, n in marks.items():
        print(f'# {n} {mark}')
    return right, sum(marks.values()), wrong


def late(strata, deep):
    """Like look(), for a call that has returned before strata reads the stack above the copy."""
    with tempfile.TemporaryDirectory() as directory:
        program = shutil.copy(deep, f'{directory}/late{os.getpid() % 10000}')
        tracer = subprocess.Popen([strata, '-e', SCRIPT % os.path.basename(program)], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        attached(tracer)
        tracer.send_signal(signal.SIGSTOP)
        waits.stopped(tracer.pid)
        child = subprocess.Popen([program, '1', 'wait'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        waits.reading(child.pid)
        tracer.send_signal(signal.SIGCONT)
        waits.idle(tracer.pid)
        printed = child.communicate()[0].split()
        tracer.terminate()
        return judge(tracer.communicate()[0], printed)


def main(strata, deep, calls=CALLS):
    sums = [sum(column) for column in zip(*(look(strata, deep, calls) for _ in range(ROUNDS)))]
    print('%d stacks are right, %d are marked, %d wrong' % tuple(sums))
    gone = late(strata, deep)
    print('of a call that has returned: %d right, %d marked, %d wrong' % gone)
    return sums[2] > 0 or sums[0] < ROUNDS * int(calls) // 10 or gone[2] or not gone[0] + gone[1]


if __name__ == '__main__':
    if os.geteuid():
        print('needs root')
        sys.exit(77)  # skipped
    sys.exit(main(*sys.argv[1:]))
