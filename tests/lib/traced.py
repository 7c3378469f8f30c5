# SPDX-License-Identifier: Apache-2.0
"""traced.py - a program that tells of itself, and strata beside it."""
import subprocess
import sys
import threading


def start(*command, cwd=None):
    """A program that waits for its standard input, then does its work and ends."""
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            cwd=cwd)


def attached(tracer):
    """Waits for strata's probes. What it says before, as a warning of any process of the machine,
    is no concern of the test's; what it said where it ended without them is shown, and ends the test."""
    said = []
    for line in tracer.stderr:
        text = line if isinstance(line, str) else line.decode(errors='replace')
        if text.startswith('Attached'):
            return line
        said.append(text)
    tracer.kill()
    sys.exit(f'strata said: {"".join(said)}')


def beside(traced, strata, script):
    """Lets it go on with strata attached: the lines that it told, those that strata printed, and
    what strata said beside them, as bytes."""
    tracer = subprocess.Popen([strata, '-p', str(traced.pid), '-e', script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    try:
        attached(tracer)
    except SystemExit:
        traced.kill()
        raise
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
