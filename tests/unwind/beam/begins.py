#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""begins.py STRATA ROUNDS ERLANG - Erlang begins in a process that is traced, while signals stop and continue strata all
the time: strata reads the mappings before the runtime has filled its tables, and the kernel's verifier is interrupted.
All later stacks have their frames. Prints TAP."""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import absent
import beams
import traced
import waits
from tap import Cases

CALLS = 20
SCRIPT = 'tracepoint:syscalls:sys_enter_getrusage /pid == %d/ { printf("call%%s", ustack); }'


def interrupt(tracer, over):
    """Stops and continues strata until the event comes."""
    while not over.wait(0.004):
        tracer.send_signal(signal.SIGSTOP)
        over.wait(0.01)
        tracer.send_signal(signal.SIGCONT)


def stacks(strata, name, directory):
    """Returns the stacks of all calls, and what strata said."""
    command = [str(word) for word in beams.command(name, directory, 'beampid', CALLS // 2)]
    process = subprocess.Popen(['sh', '-c', 'read line; exec "$@"', 'sh', *command], cwd='/tmp', text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    tracer = subprocess.Popen([strata, '-v', '-p', str(process.pid), '-e', SCRIPT % process.pid], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    traced.attached(tracer)
    over, said = threading.Event(), []
    stopper = threading.Thread(target=interrupt, args=(tracer, over))
    reader = threading.Thread(target=lambda: said.extend(tracer.stderr))
    reader.start()
    stopper.start()
    process.stdin.write('\n')
    process.stdin.flush()
    process.stdout.readline() # the runtime has begun
    over.set()
    stopper.join()
    if waits.comes(lambda: any('languages loaded: beam' in line for line in said)):
        waits.idle(tracer.pid)
    process.stdin.close()
    process.stdout.read()
    printed = tracer.stdout.read()
    tracer.wait()
    reader.join()
    process.wait()
    return re.split('^call', printed, flags=re.M)[1:], said


def main(strata, rounds, name):
    cases = Cases()
    try:
        beams.get(name)
    except absent.Missing as why:
        return absent.all_fail(why)
    with tempfile.TemporaryDirectory(dir='/tmp') as directory: # it exists whatever the root is
        beams.compile_module(name, HERE / 'beampid.erl', directory)
        for i in range(int(rounds)):
            found, said = stacks(strata, name, directory)
            named = sum('beampid:call/0' in stack and '[' not in stack for stack in found)
            cases.check(named == len(found) == CALLS, f'{name} {i + 1}: {named} of {len(found)} stacks are whole',
                        found[:2], ''.join(said)[-2000:])
    return cases.done()


if __name__ == '__main__':
    sys.exit(absent.as_root(lambda: main(*sys.argv[1:])))
