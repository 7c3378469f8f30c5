#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""svg.py STRATA - the flame graph is XML, its data are a tree with consistent numbers, and it draws the counts of the
script. Prints TAP."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import as_root

STRATA = os.path.realpath(sys.argv[1])
SVG = '{http://www.w3.org/2000/svg}'
# A name with a meaning in XML, JSON and a shell.
PROGRAM = '''
import time
def leaf(): return sum(range(2000))
def branch_a(): return [leaf() for _ in range(20)]
def branch_b(): return leaf()
end = time.monotonic() + 2
while time.monotonic() < end: branch_a(); branch_b()
'''


def record(dir, script, *args, name='x.svg'):
    path = pathlib.Path(dir, name)
    done = subprocess.run([STRATA, '-o', path, *args, '-e', script], capture_output=True, text=True, cwd=dir, timeout=60)
    return done, path.read_text() if path.exists() else ''


def data_of(text):
    root = xml.fromstring(text)
    found = [e for e in root.iter(SVG + 'script') if e.get('id') == 'data']
    return root, json.loads(found[0].text)


def tree_agrees(rows):
    """Each row's total is the sum of its own value and its children's totals."""
    below, stack = [0] * len(rows), []
    for i, (_, _, _, total, depth, *_) in enumerate(rows):
        stack = stack[:depth] + [i]
        if depth:
            below[stack[depth - 1]] += total
    return all(below[i] + own == total for i, (_, _, own, total, *_) in enumerate(rows))


def profile(cases, dir):
    pathlib.Path(dir, 'a<b>&"c.py').write_text(PROGRAM)
    done, text = record(dir, 'profile:hz:499 { @[comm, ustack, kstack] = count(); }', '-c',
                        '/usr/bin/python3 a<b>&"c.py'.replace('"', '\\"'))
    root, data = data_of(text)
    names, rows = data['names'], data['rows']
    drawn = [e.text for e in root.iter(SVG + 'title')]
    cases.check(rows[0][3] > 100 and tree_agrees(rows), 'the numbers of the tree agree', rows[:5], done.stderr)
    cases.check(all(0 <= r[0] < len(names) and 0 <= r[1] < len(data['kinds']) for r in rows), 'names and kinds exist')
    cases.check(any(n.startswith('leaf ') for n in names) and any(n.startswith('branch_a ') for n in names),
                "Python's functions are in it", names[:50])
    python = data['kinds'].index('Python')
    cases.check(all(names[r[0]].startswith('leaf ') <= (r[1] == python) for r in rows), 'of their kind')
    cases.check(any('<b>&"c.py' in n for n in names), 'their file has its name', [n for n in names if 'leaf' in n])
    cases.check(any(t.startswith('branch_a ') for t in drawn), 'it is drawn without a browser, too', drawn[:20])
    cases.check(len(text) < 3 << 20, f'{len(text)} bytes')
    if shutil.which('node'):
        script = [e for e in root.iter(SVG + 'script') if not e.get('id')][0].text
        pathlib.Path(dir, 'flame.js').write_text(script)
        done = subprocess.run(['node', '--check', 'flame.js'], cwd=dir, capture_output=True, text=True)
        cases.check(done.returncode == 0, 'its script is JavaScript', done.stderr)


def several(cases, dir):
    script = ('profile:hz:99 { @a[kstack] = count(); @b[ustack] = sum(-1); @c = count(); @d[kstack] = sum(1000); } '
              'interval:s:1 { printf("said\\n"); exit(); }')
    done, text = record(dir, script)
    _, data = data_of(text)
    tops = {data['names'][r[0]]: r[3] for r in data['rows'] if r[4] == 1}
    cases.check(set(tops) == {'@a', '@d'} and tops['@d'] == 1000 * tops['@a'], 'several maps stand side by side', tops)
    cases.check('said' in done.stderr and '@c: ' in done.stderr, 'other output goes to stderr', done.stderr)
    cases.check('below 0' in done.stderr, 'negative values are omitted, and reported', done.stderr)


def nothing(cases, dir):
    done, text = record(dir, 'begin { @ = 1; exit(); }', name='y.svg')
    cases.check('this script has none' in done.stderr and not text, 'a script without stacks', done.stderr, text)


def main():
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as dir:
        profile(cases, dir)
        several(cases, dir)
        nothing(cases, dir)
    return cases.done()


sys.exit(as_root(main))
