#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""merge.py STRATA - strata show with several recordings: the totals of each function are the sums of the files'; --by host keeps
hosts apart."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / 'lib')]
import recordings
import tap

STRATA = os.path.realpath(sys.argv[1])
KEY = ({'label': 'comm'}, {'label': 'stack', 'mode': 'func'})


class Host(recordings.Recording):
    def __init__(self, name):
        super().__init__()
        self.lines[0] = self.lines[0].replace('"host": "h"', f'"host": "{name}"')

    def stack(self, comm, names, *values):
        self.entry([comm, [self.frame(name, module='/app') for name in reversed(names)]], *values)


def show(*args):
    return subprocess.run([STRATA, 'show', *map(str, args)], capture_output=True, text=True, timeout=60)


def folded(*args):
    """Returns {line: number}."""
    found = collections.Counter()
    for line in show('-f', 'folded', *args).stdout.splitlines():
        stack, n = line.rsplit(' ', 1)
        found[stack] += int(n)
    return dict(found)


def test_sums(cases, home):
    """Frames have other numbers in each file."""
    a, b, c = Host('a'), Host('b'), Host('b')
    a.map('cpu', key=KEY)
    a.stack('web', ['main', 'f', 'g'], 5)
    a.stack('db', ['main', 'f'], 2)
    b.frame('unused')
    b.map('cpu', key=KEY)
    b.stack('web', ['main', 'f'], 7)
    b.stack('web', ['main', 'f', 'g'], 10)
    c.map('cpu', key=KEY)
    c.stack('web', ['main', 'f', 'g'], 100)
    files = [r.write(home / f'{i}.json.gz') for i, r in enumerate((a, b, c))]
    seen = folded(*files)
    cases.check(seen == {'web;main;f;g': 115, 'web;main;f': 7, 'db;main;f': 2}, 'values of equal keys are added', seen)
    seen = folded(*files, '--by', 'host')
    cases.check(seen == {'a;web;main;f;g': 5, 'a;db;main;f': 2, 'b;web;main;f': 7, 'b;web;main;f;g': 110}, '--by host', seen)
    text = show(*files, '--by', 'host', '-n', 1).stdout
    cases.check('@cpu[b, web, ' in text and text.rstrip().endswith(': 110'), '..as text', text)
    done = show(*files, '-o', home / 'sum.json')
    cases.check(done.returncode == 0 and folded(home / 'sum.json') == folded(*files), 'a sum is a recording', done)
    for name in ('svg', 'html', 'pprof', 'otlp', 'speedscope'):
        done = subprocess.run([STRATA, 'show', '-f', name, *files], capture_output=True)
        cases.check(done.returncode == 0 and len(done.stdout) > 100, f'..as {name}', done.stderr)
    done = show(*files, '-f', 'svg', '--diff', files[0])
    cases.check(done.returncode == 0 and '<svg' in done.stdout, 'a difference to a sum', done.stderr)


def test_kinds(cases, home):
    files = []
    for i, host in enumerate(('a', 'b')):
        r = Host(host)
        for name, kind, values in (('s', 'sum', (3 + i,)), ('avg', 'avg', (2, 10 * (i + 1))), ('low', 'min', (7 - i, 1)),
                                   ('high', 'max', (7 - i, 1)), ('plain', 'number', (5 + i,))):
            r.map(name, kind, key=KEY)
            r.stack('x', ['main'], *values)
        files.append(r.write(home / f'{host}.json'))
    text = show(*files).stdout
    seen = dict(re.findall(r'^(@\w+)\[x[^\]]*\]: (\S+)', text, re.M))
    cases.check({k: seen.get(k) for k in ('@s', '@avg', '@low', '@high')} == {'@s': '7', '@avg': '7', '@low': '6', '@high': '7'},
                'sum, avg, min, max', text)
    cases.check('@plain[a, x' in text and '@plain[b, x' in text, 'plain numbers have no sum', text)
    r = Host('c')
    r.map('s', 'count', key=KEY)
    r.stack('x', ['main'], 100)
    seen = show(files[0], r.write(home / 'c.json')).stdout
    cases.check(seen.count('@s[') == 2, 'another kind stays apart', seen)


def table(r, name, kind, key, entries, line=True):
    if line:
        r.lines.append(json.dumps({'type': 'map', 'data': {'@' + name: {'x': 'AS TEXT'}}}))
    r.map(name, kind, key=key)
    r.lines[-1] = r.lines[-1].replace('"profile"', '"table"')
    for parts, values in entries:
        r.entry(parts, *values)


def test_tables(cases, home):
    """Maps without stacks."""
    files = []
    for i, host in enumerate(('a', 'b')):
        r = Host(host)
        table(r, 'calls', 'count', [{'label': 'comm'}, {'label': 'pid'}], [(['x', 1], [3]), (['y', i], [1])])
        table(r, 'all', 'sum', [], [([], [10 + i])])
        r.lines[-2] = r.lines[-2].replace('"kind": "sum"', '"kind": "sum", "signed": true')
        r.lines[-1] = r.lines[-1].replace('[1', '[-1')
        files.append(r.write(home / f'{host}.json'))
    text = show(*files).stdout
    cases.check(sorted(text.split('\n')) == ['', '@all: -21', '@calls[x, 1]: 6', '@calls[y, 0]: 1', '@calls[y, 1]: 1'],
                'maps without stacks are added, also without keys and below 0', text)
    text = show(*files, '--by', 'host').stdout
    cases.check('@all[a]: -10' in text and '@calls[b, x, 1]: 3' in text, '..or kept by host', text)
    cases.check(show(files[0]).stdout.count('AS TEXT') == 2 and '@calls[x, 1]' not in show(files[0]).stdout,
                '..of one file, the text is shown', show(files[0]).stdout)
    done = show(*files, '-o', home / 'sum.json')
    cases.check(done.returncode == 0 and show(home / 'sum.json').stdout == show(*files).stdout, 'a sum of tables is a recording',
                show(home / 'sum.json'))


def test_times(cases, home):
    """Windows are added; a map that was printed again without being emptied counts once."""
    r = Host('a')
    for n in (1, 2):
        r.map('w', key=KEY)
        r.lines[-1] = r.lines[-1].replace('"time"', '"window": true, "time"')
        r.stack('x', ['w'], n)
        r.map('p', key=KEY)
        r.stack('x', ['p'], n)
    path = r.write(home / 'a.json')
    seen = folded(path, path)
    cases.check(seen == {'x;w': 6, 'x;p': 4}, 'windows, and repeated prints', seen)


def test_wrong(cases, home):
    good = Host('a')
    good.map('cpu', key=KEY)
    good.stack('x', ['main'], 2 ** 63)
    path = good.write(home / 'good.json')
    for what, args, message in (('a sum of more than 64 bits', (path, path), 'more than 64 bits'),
                                ('a missing file', (path, home / 'none.json'), 'cannot read'),
                                ('--by something else', (path, '--by', 'pid'), '--by takes the word host')):
        done = show('-f', 'folded', *args)
        cases.check(done.returncode == 1 and message in done.stderr and not done.stdout, what, done)
    lines = Host('esc')
    lines.lines[0] = lines.lines[0].replace('esc', '\\u001b[31m')
    lines.map('cpu', key=KEY)
    lines.stack('x', ['main'], 1)
    lines.lines.append('{"type": "printf", "data": "hello\\n"}')
    text = show(lines.write(home / 'esc.json'), path, '--by', 'host').stdout
    cases.check('\x1b' not in text and ': hello' in text, 'names of hosts are safe, and text has them', text)


def main():
    cases = tap.Cases()
    for test in (test_sums, test_kinds, test_tables, test_times, test_wrong):
        with tempfile.TemporaryDirectory() as home:
            test(cases, pathlib.Path(home))
    return cases.done()


sys.exit(main())
