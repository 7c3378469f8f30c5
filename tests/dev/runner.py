#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runner.py - tests the test tools: the table of skipped tests, and waits for events."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'tests' / 'lib'), str(TOP / 'tests' / 'unwind' / 'v8')]
import binaries
import traced
import waits
from tap import Cases

LOG = [
    {'name': 'strata:kernel / whole', 'result': 'SKIP', 'duration': 1.25, 'stdout': '1..0 # SKIP needs root\n'},
    {'name': 'strata:golden / some', 'result': 'OK',
     'stdout': 'ok 1 - a.bt # SKIP needs feature:kprobe\nok 2 - b.bt # SKIP needs feature:kprobe\nok 3 - c.bt\n'},
    {'name': 'strata:kernel / text', 'result': 'SKIP', 'stdout': 'looking\nneeds root\n'},
    {'name': 'strata:kernel / absent', 'result': 'OK', 'stdout': 'debian-3.13 is not available: no mirror\n'},
    {'name': 'strata:kernel / silent', 'result': 'SKIP', 'stdout': ''},
    {'name': 'strata:kernel / passed', 'result': 'OK', 'duration': 61.04, 'stdout': 'ok 1 - a # of two\n1..1\n'},
]
TABLE = '''
Skipped:
  whole   needs root
  some    2 cases: needs feature:kprobe
  text    needs root
  absent  1 case: no mirror
  silent  it did not say why

Slowest of 2 tests:
    61.0 s  passed
     1.2 s  whole
'''


def tracer(words):
    return subprocess.Popen(['sh', '-c', words], stderr=subprocess.PIPE, text=True)


def ends(words):
    """The message with which a test that waits for this tracer ends."""
    try:
        traced.attached(tracer(words))
    except SystemExit as end:
        return str(end)
    return None


def late():
    """The message of a wait that is in vain."""
    try:
        waits.until(lambda: False, 'a line', 0.1)
    except TimeoutError as e:
        return str(e)
    return None


cases = Cases()
with tempfile.NamedTemporaryFile('w', suffix='.json') as log:
    log.write(''.join(json.dumps(test) + '\n' for test in LOG))
    log.flush()
    seen = subprocess.run([TOP / 'tests/runner/summary', log.name], capture_output=True, text=True).stdout
cases.check(seen == TABLE, 'a table of the skipped tests with reasons, and the slowest tests', seen)
cases.check(traced.attached(tracer('echo warning: /usr/bin/chromium: >&2; echo Attached 1 probe >&2')) ==
            'Attached 1 probe\n', "another process's warning comes first")
cases.check(ends('echo error: no root >&2') == 'strata said: error: no root\n', 'a tracer that ends ends the test')
looks = iter([0, 0, 7])
cases.check(waits.until(lambda: next(looks), 'a value') == 7, 'a wait returns the value that it waited for')
cases.check(re.fullmatch(r'waited \S+ s for a line', late() or ''), 'a wait in vain names the event')
cases.check(waits.stays(lambda: True, 0.1) and not waits.stays(lambda: False, 9), 'a condition that stays true, and one that does not')
unknown = subprocess.run([TOP / 'tests/run', '--check', 'base', 'no-such-test', '--suite', 'no-such-suite'],
                         capture_output=True, text=True)
cases.check(unknown.returncode == 2 and 'there is no no-such-test, --suite no-such-suite:' in unknown.stderr and
            {'base', 'unwind-units', 'machines'} <= set(unknown.stdout.split()),
            'an unknown test or suite is refused, with the names of all', unknown)
os.environ.pop('NODE_EXTRA_CA_CERTS', None)
trust = (binaries.trusting() or {}).get('NODE_EXTRA_CA_CERTS')
there = [path for path in binaries.BUNDLES if os.path.exists(path)]
cases.check(trust == (there[0] if there else None), 'npm trusts whom the system trusts', trust)
sys.exit(cases.done())
