# SPDX-License-Identifier: Apache-2.0
"""traced.py - runs a program that prints its own account, and strata next to it."""
import subprocess
import sys
import threading


def start(*command, cwd=None):
    """Starts a program that waits for its standard input, then does its work and ends."""
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            cwd=cwd)


def attached(tracer):
    """Waits until strata has attached its probes. Ignores messages before that, such as warnings about
    other processes; if strata ends without attaching, prints them and ends the test."""
    said = []
    for line in tracer.stderr:
        text = line if isinstance(line, str) else line.decode(errors='replace')
        if text.startswith('Attached'):
            return line
        said.append(text)
    tracer.kill()
    sys.exit(f'strata said: {"".join(said)}')


def attached_json(tracer):
    """Does the same for a strata that prints JSON."""
    for line in tracer.stdout:
        if 'attached_probes' in (line if isinstance(line, str) else line.decode()):
            return
    sys.exit(f'strata said: {tracer.stderr.read()}')


def beside(traced, strata, script):
    """Lets the program continue with strata attached. Returns the lines that it printed, those that
    strata printed, and strata's messages, as bytes."""
    tracer = subprocess.Popen([strata, '-p', str(traced.pid), '-e', script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    try:
        attached(tracer)
    except SystemExit:
        traced.kill()
        raise
    account = []
    reader = threading.Thread(target=lambda: account.extend(traced.stdout))
    reader.start()
    traced.stdin.write(b'go\n')
    traced.stdin.close()
    printed = tracer.stdout.read().splitlines()
    said = tracer.stderr.read()
    reader.join()
    traced.wait()
    tracer.wait()
    return account, printed, said


def run(strata, script, *command):
    """Returns the lines that the program printed and those that strata printed."""
    return beside(start(*command), strata, script)[:2]
