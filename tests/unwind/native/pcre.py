#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pcre.py STRATA - patterns that PCRE's JIT compiler has compiled: the stack goes on in libpcre2, up to the thread's first
function, for patterns with frames of several sizes. Prints TAP."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
PATTERNS = [r'(\w+\s?){12}[xyz]', r'((\w)(\w)?(\w)?(\w)?(\w)?)+ \2\3[xyz]']
PHP = '''<?php
function slow($text) { return preg_match('/^(\\w+\\s?)*$/', $text); }
for ($n = 0; $n < 40; $n++) slow('a slow pattern for a sample!');
'''


def compiled(command):
    """Returns the stacks whose innermost function has no name, as lists of functions, and their ends."""
    done = subprocess.run([STRATA, '-f', 'json', '-e', 'profile:hz:999 { @[ustack] = count(); }', '-c', command],
                          capture_output=True, text=True, timeout=100)
    stacks = []
    for line in (json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')):
        for entry in line.get('entries', []):
            stack = entry['key'] if isinstance(entry['key'], dict) else entry['key'][0]
            if stack.get('end') == 'the process ended before it was read':  # one that was not exec'd yet
                continue
            if stack['frames'] and 'function' not in stack['frames'][0] and stack['frames'][0].get('module') == '[anon]':
                stacks.append(([f.get('function', '?') for f in stack['frames']], stack.get('end'), entry['value']))
    return stacks, done


def check(cases, name, command, wanted):
    """wanted: functions that each stack has."""
    stacks, done = compiled(command)
    # A sample before the tables are known may have more stack than is copied: PCRE has 32 KiB of its own there.
    early = [stack for stack in stacks if stack[1] == 'the process went on before its whole stack was read']
    cut = [stack for stack in stacks if stack not in early and
           (stack[1] or not {*wanted, '__libc_start_main'} <= set(stack[0]))]
    every, first, bad = (sum(stack[2] for stack in some) for some in (stacks, early, cut))
    cases.check(every > 5 and first <= 0.25 * every and bad <= 0.03 * every,
                f'{name}: {every} samples, {first} before the tables were known, {bad} cut', early, cut[:5], done.stderr)


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
random.seed(1)
with tempfile.TemporaryDirectory() as dir:
    text = pathlib.Path(dir, 'text')
    text.write_text('\n'.join(''.join(random.choice('abcdef ') for _ in range(200)) for _ in range(200)))
    greps = pathlib.Path(dir, 'greps')
    for pattern in PATTERNS:
        # grep gives up after some 10 ms, at the limit of PCRE.
        greps.write_text(f"for i in 1 2 3 4 5 6 7 8; do timeout 3 /usr/bin/grep -cP '{pattern}' {text}; done")
        check(cases, f'grep -P {pattern}', f'/bin/sh {greps}', ['pcre2_match_8'])
    if shutil.which('/usr/bin/php') and 'libpcre2' in subprocess.run(['ldd', '/usr/bin/php'], capture_output=True, text=True).stdout:
        script = pathlib.Path(dir, 'slow.php')
        script.write_text(PHP)
        check(cases, 'php', f'/usr/bin/php -d pcre.backtrack_limit=100000000 {script}', ['preg_match', 'slow'])
    else:
        cases.skip('php', 'needs /usr/bin/php with libpcre2')
sys.exit(cases.done())
