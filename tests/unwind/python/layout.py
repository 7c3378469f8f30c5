#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layout.py LAYOUT PYTHON... - the number of the next code object in the memory of a CPython, at the place that strata takes:
it grows by one for each code object. Prints TAP."""
import pathlib
import re
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'lib'), str(HERE.parents[1] / 'pythons')]
import accounts
import pythons

LAYOUT, NAMES = sys.argv[1], sys.argv[2:]
HEAD = 5  # word of _Py_DebugOffsets: place of the newest interpreter in _PyRuntime
PROGRAM = '''import sys
print('ready', flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        compile('1', 'x', 'eval')
    print('done', flush=True)
'''


def library(pid):
    """Returns the path and the bias of the file with the interpreter."""
    program = None
    for line in pathlib.Path(f'/proc/{pid}/maps').read_text().split('\n'):
        words = line.split()
        if len(words) > 5 and int(words[2], 16) == 0 and re.search(r'/(libpython3|python3\.\d+$)', words[5]):
            path = f'/proc/{pid}/root{words[5]}'
            with open(path, 'rb') as file:
                is_moved = file.read(18)[16] == 3  # ET_DYN
            program = path, int(words[0].partition('-')[0], 16) if is_moved else 0
    return program


def look(cases, name):
    with subprocess.Popen([pythons.get(name) / 'python', '-c', PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as python:
        python.stdout.readline()
        path, bias = library(python.pid)
        runtime, place = map(int, subprocess.run([LAYOUT, path], capture_output=True, text=True).stdout.split())
        with open(f'/proc/{python.pid}/mem', 'rb', 0) as memory:
            def read(addr, form):
                memory.seek(addr)
                return struct.unpack(form, memory.read(struct.calcsize(form)))[0]

            interp = read(bias + runtime + read(bias + runtime + 8 * HEAD, '<Q'), '<Q')
            numbers = []
            for n in (0, 1, 100, 0, 7):
                python.stdin.write(f'{n}\n')
                python.stdin.flush()
                python.stdout.readline()
                numbers.append(read(interp + place, '<I'))
        python.kill()
    steps = [after - before for before, after in zip(numbers, numbers[1:])]
    cases.check(place and numbers[0] and steps == [1, 100, 0, 7], f'{name}: {numbers[0]} code objects', place, numbers)


sys.exit(accounts.each(NAMES, pythons.get, look))
