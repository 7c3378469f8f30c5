#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""short.py STRATA COUNT NAME... - names in the stacks of scripts that run for 5 ms.

Runs COUNT scripts of each Python one after the other, each with a function of another name that
calls getpgid(): by -c, and system-wide. Each stack is whole and has names, although the process
has ended. The first few are not judged: strata makes or loads a file's table when the file
is first seen, and the machine may be busy. NAME: see tests/pythons/get; system:
/usr/bin/python3."""
import os
import re
import subprocess
import sys

import pythons
import waits
from absent import fails
from traced import attached

STRATA, COUNT, NAMES = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
FIRST = 5
SCRIPT = 'tracepoint:syscalls:sys_enter_getpgid { @[pystack(addr)] = count() }'
SOURCE = '''
import os, time
def brief_{n}():
    os.getpgid(0)
start = time.perf_counter()
while time.perf_counter() - start < 0.005:
    pass
brief_{n}()
'''


def scripts(name, python):
    """The lines of a shell script that runs them."""
    for n in range(COUNT):
        source = SOURCE.format(n=f'{re.sub("[^0-9a-z]", "_", name)}_{n}')
        yield f"{python} -I -S -c '{source}'\n"


def wrong(name, out):
    """The scripts whose stack is not their own."""
    functions = [f'brief_{re.sub("[^0-9a-z]", "_", name)}_{n}' for n in range(COUNT)]
    return [f for f in functions
            if not re.search(rf'^@\[\n +{f} <string>:4\n +<module> <string>:8\n\]: 1$', out, re.M)]


def below(name, python):
    path = pythons.CACHE / 'short.sh'
    path.write_text(''.join(scripts(name, python)))
    done = subprocess.run([STRATA, '-e', SCRIPT, '-c', f'sh {path}'], capture_output=True, text=True)
    return done.stdout


def everywhere(name, python):
    tracer = subprocess.Popen([STRATA, '-e', SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    attached(tracer)
    for command in scripts(name, python):
        subprocess.run(['sh', '-c', command], check=True)
    waits.idle(tracer.pid)
    tracer.terminate()
    return tracer.communicate()[0]


if os.geteuid():
    print('needs root')
    sys.exit(77) # skipped
pythons.CACHE.mkdir(parents=True, exist_ok=True)
failed = 0
for name in NAMES:
    try:
        python = '/usr/bin/python3' if name == 'system' else pythons.get(name) / 'python'
    except pythons.Missing as e:
        failed += fails(name, e)
        continue
    for way, look in (('-c', below), ('system-wide', everywhere)):
        out = look(name, python)
        bad = wrong(name, out)
        failed += len([f for f in bad if int(f.rpartition('_')[2]) >= FIRST])
        print(f'{name}: {way}: {COUNT - len(bad)} of {COUNT} stacks are whole', flush=True)
        if bad:
            print('    not those of', *bad, *sorted(set(re.findall(r'\[[a-z ]+\]', out))))
sys.exit(failed > 0)
