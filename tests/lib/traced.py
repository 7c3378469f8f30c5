# SPDX-License-Identifier: Apache-2.0
"""traced.py - a program that tells of itself, and strata beside it."""
import subprocess
import sys
import threading


def start(*command, cwd=None):
    """A program that waits for its standard input, then does its work and ends."""
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            cwd=cwd)


def beside(traced, strata, script):
    """Lets it go on with strata attached: the lines that it told, those that strata printed, and
    what strata said beside them, as bytes."""
    tracer = subprocess.Popen([strata, '-p', str(traced.pid), '-e', script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    attached = tracer.stderr.readline()
    if not attached.startswith(b'Attached'):
        traced.kill()
        sys.exit(f'strata said: {attached.decode()}')
    told = []
    reader = threading.Thread(target=lambda: told.extend(traced.stdout))
    reader.start()
    traced.stdin.write(b'go\n')
    traced.stdin.close()
    printed = tracer.stdout.read().splitlines()
    said = tracer.stderr.read()
    reader.join()
    traced.wait()
    tracer.wait()
    return told, printed, said


def run(strata, script, *command):
    """The lines that the program told and those that strata printed."""
    return beside(start(*command), strata, script)[:2]
