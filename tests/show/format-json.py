#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""format-json.py STRATA - -f json: each line is JSON with the output, for scripts of all kinds."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
PROG = r'''
#include <stdio.h>
__attribute__((noinline)) int inner(int n) { FILE *f = fopen("/", "r"); return n + !f; }
__attribute__((noinline)) int outer(int n) { return inner(n + 1) + 1; }
int main(void) { return outer(1) == 5; }
'''


def strata(script, *args):
    run = subprocess.run([STRATA, '-f', 'json', *args, '-e', script], capture_output=True, timeout=30)
    return run.stdout.decode(), run.stderr.decode(errors='replace')


def lines(script, *args):
    out, err = strata(script, *args)
    found = [json.loads(line) for line in out.splitlines()]
    assert found, err
    return found


def data(script, *args):
    """Returns (type, data) of each line of the script."""
    return [(l['type'], l['data']) for l in lines(script, *args) if l['type'] != 'attached_probes']


def values():
    seen = data('''struct s { int a[2]; char c[4]; unsigned b : 3; union { int q; short w; }; char *p; }
        enum e { ONE = 1 }
        begin { print(1); print(-5); print(9007199254740992); print(9007199254740993);
        print(18446744073709551615); print(true); print((1, "x y", (2, false))); print((a = 1, b = "z"));
        print(*(struct s *)0); print((enum e)1); print(buf("a\\xff", 2)); print((int32[2])(uint64)1);
        print(ntop(0x0100007f)); print("a\\"b\\n\\x01"); print("caf\\xc3\\xa9 \\xff"); print(9007199254740994);
        print((uint64)0xffffffff81000000); print((uint64)0xffffffff81000001); print(-9223372036854775807);
        print(-9223372036854775807 - 1); print((uint64)1 << 62); exit(); }''')
    wanted = [1, -5, 9007199254740992, '9007199254740993', '18446744073709551615', True,
              [1, 'x y', [2, False]], {'a': 1, 'b': 'z'},
              {'a': [0, 0], 'c': '', 'b': 0, 'q': 0, 'w': 0, 'p': 0}, 1, [97, 255], [1, 0],
              '127.0.0.1', 'a"b\n\x01', 'café \\xff', 9007199254740994, # values that fit in a double are numbers
              0xffffffff81000000, str(0xffffffff81000001), '-9223372036854775807', -2**63, 2**62]
    assert [d for t, d in seen] == wanted, seen
    assert {t for t, d in seen} == {'value'}


def texts():
    seen = data('begin { printf("no newline"); printf("%s\\t%d\\n", "a b", 3); time("x\\n"); exit(); }')
    assert seen == [('printf', 'no newline'), ('printf', 'a b\t3\n'), ('time', 'x\n')], seen


def acts():
    """Messages of the script, commands, files, time series."""
    seen = lines('''begin { errorf("x %d\\n", 1); warnf("w"); system("echo a; echo b"); cat("/proc/sys/kernel/ostype");
        @ = tseries(5, 1d, 3, "max"); @k[1] = tseries(-5, 1d, 3); exit(); }''', '--unsafe')
    seen = [line for line in seen if line['type'] != 'attached_probes']
    assert seen[0] == {'type': 'errorf', 'msg': 'x 1\n', 'filename': 'stdin', 'line': 1, 'col': 9}, seen
    assert (seen[1]['type'], seen[1]['msg']) == ('warnf', 'w'), seen
    assert [(line['type'], line['data']) for line in seen[2:4]] == [('syscall', 'a\nb\n'), ('cat', 'Linux\n')], seen
    start = seen[4]['data']['@'][0]['interval_start']
    assert len(start) == len('2026-11-22 00:00:00.000000000'), seen
    assert seen[4] == {'type': 'tseries', 'data': {'@': [{'interval_start': start, 'value': 5}]}}, seen
    assert seen[5]['data'] == {'@k': {'1': [{'interval_start': start, 'value': -5}]}}, seen


def maps():
    seen = lines('''begin { @ = 1; @k["b"] = 2; @k["a"] = 1; @t[1, "a b"] = 3; @r[(a = 1, b = "x y")] = 1;
        @h = hist(5); @h = hist(-1); @l["x"] = lhist(3, 0, 10, 2); @l["x"] = lhist(30, 0, 10, 2);
        @st[1] = stats(4); @av = avg(6); @c = count(); @big = 9007199254740993;
        @all = hist((uint64)18446744073709551615); @gone[1] = 1; delete(@gone, 1); exit(); }''')
    seen = {name: line for line in seen if line['type'] != 'attached_probes' for name in line['data']}
    wanted = {'@': 1, '@k': {'a': 1, 'b': 2}, '@t': {'1,a b': 3}, '@r': {'{.a=1,.b=x y}': 1},
              '@h': [{'max': -1, 'count': 1}] + [{'min': low, 'max': high, 'count': high == 7}
                     for low, high in ((0, 0), (1, 1), (2, 3), (4, 7))],
              '@l': {'x': [{'min': 2, 'max': 3, 'count': 1}, {'min': 4, 'max': 5, 'count': 0},
                           {'min': 6, 'max': 7, 'count': 0}, {'min': 8, 'max': 9, 'count': 0},
                           {'min': 10, 'count': 1}]},
              '@st': {'1': {'count': 1, 'average': 4, 'total': 4}}, '@av': 6, '@c': 1,
              '@big': '9007199254740993',
              '@all': [{'min': 9223372036854775808, 'max': '18446744073709551615', 'count': 1}]}
    assert {name: line['data'][name] for name, line in seen.items()} == wanted, seen
    assert [seen[name]['type'] for name in ('@', '@h', '@l', '@st', '@av', '@c')] == \
        ['map', 'hist', 'hist', 'stats', 'stats', 'map']
    assert seen['@t']['entries'] == [{'key': [1, 'a b'], 'value': 3}]
    assert seen['@r']['entries'] == [{'key': {'a': 1, 'b': 'x y'}, 'value': 1}]
    assert 'entries' not in seen['@k']
    assert list(seen['@k']['data']['@k']) == ['a', 'b'], 'sorted as text'


def series():
    out = lines('config = { unstable_tseries = enable } '
                'interval:ms:100 { @["a b"] = tseries(-5, 100ms, 3); @n++; if (@n == 5) { exit(); } }')
    found = next(line for line in out if line['type'] == 'tseries')['data']['@']['a b']
    assert 2 <= len(found) <= 3 and all(p['value'] == -5 for p in found), found
    assert all(re.fullmatch(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d00000000', p['interval_start']) for p in found), found


def keys_do_not_collide():
    seen = lines('begin { @["a,b", "c"] = 1; @["a", "b,c"] = 2; exit(); }')[-1]
    assert seen['entries'] == [{'key': ['a,b', 'c'], 'value': 1}, {'key': ['a', 'b,c'], 'value': 2}]


def stacks():
    with tempfile.TemporaryDirectory() as dir:
        prog = pathlib.Path(dir, 'prog')
        subprocess.run(['cc', '-x', 'c', '-O1', '-g', '-fno-inline', '-o', prog, '-'], input=PROG.encode(), check=True)
        seen = lines(f'uprobe:{prog}:inner {{ @[ustack] = count(); @last = ustack; print(ustack); }}', '-c', str(prog))
    value, last = (next(l for l in seen if l['type'] == 'value'), next(l for l in seen if '@last' in l['data']))
    keyed = next(l for l in seen if '@' in l['data'])
    frames = value['value']['frames']
    assert [f['function'] for f in frames[:3]] == ['inner', 'outer', 'main'], frames
    assert frames[0] == {'kind': 'native', 'function': 'inner', 'module': str(prog), 'offset': 0,
                         **{k: v for k, v in frames[0].items() if k in ('file', 'line', 'column')}}
    assert value['data'].startswith('\n        inner+0\n        outer+'), value['data']
    assert last['value']['frames'] == frames
    assert [f['function'] for f in keyed['entries'][0]['key']['frames'][:3]] == ['inner', 'outer', 'main']
    assert next(iter(keyed['data']['@'])).startswith('\ninner+0\nouter+'), keyed


def options():
    out, err = strata('begin { print(1); exit(); }', '-q')
    assert out == '{"type": "value", "data": 1}\n' and not err, (out, err)
    with tempfile.NamedTemporaryFile() as file:
        strata('begin { print(1); exit(); } interval:s:1 { }', '-o', file.name)
        seen = [json.loads(l) for l in file.read().splitlines()]
    assert seen == [{'type': 'attached_probes', 'count': 1, 'data': {'probes': 1}}, {'type': 'value', 'data': 1}], seen


def every_script():
    """Runs the scripts of other tests, and checks only that the output is JSON."""
    n = 0
    for path in sorted((TESTS / 'compat').glob('*.bt')):
        run = subprocess.run(['timeout', '5', STRATA, '-f', 'json', path], capture_output=True)
        for line in run.stdout.split(b'\n')[:-1]:
            found = json.loads(line)
            assert isinstance(found['type'], str), line
            n += 1
    assert n > 100, n


if os.geteuid():
    print('1..0 # skipped: not root')
    sys.exit(0)
cases = Cases()
for case in (values, texts, acts, maps, series, keys_do_not_collide, stacks, options, every_script):
    try:
        case()
        cases.check(True, case.__name__)
    except Exception:
        cases.check(False, case.__name__, traceback.format_exc())
sys.exit(cases.done())
