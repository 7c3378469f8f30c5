#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rows.py STRATA - a script's maps, text and losses as rows: each line fits the tables of share/sql, and the numbers are the
script's."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import recordings
import tap

STRATA = os.path.realpath(sys.argv[1])
SCRIPT = '''begin {
    @count[comm] = count(); @count[comm] = count(); @sum_bytes = sum(40); @sum_bytes = sum(2); @less = sum(-3);
    @number = 7; @low = min(5); @high = max(9); @mean_us[1, "a", "a"] = avg(10); @mean_us[1, "a", "a"] = avg(20);
    @h["x"] = hist(0); @h["x"] = hist(5); @h["x"] = hist(6); @h["x"] = hist(1 << 63); @l = lhist(3, 0, 10, 2); @l = lhist(99, 0, 10, 2);
    @ids["0af7651916cd43dd8448eb211c80319c"] = count(); @words["x"] = "text";
    printf("hello %d\\n", 5); print((1, "x")); warnf("beware");
    exit();
}'''
STACKS = 'uprobe:libc:getppid { @[ustack, comm, pid] = count(); @other_ns[pystack] = sum(10); }'
PROGRAM = 'import os\ndef call():\n    os.getppid()\nfor i in range(5): call()\nos.getppid()\n'
WINDOWS = '''config = { window = 100ms }
begin { @i = 0; }
interval:ms:50 / @i < 40 / { @n = count(); @st[kstack] = count(); @i++; if (@i == 40) { exit(); } }'''


def run(script, *more, **environment):
    """Returns (rows by table, stderr)."""
    done = subprocess.run([STRATA, '-f', 'rows', *more, '-e', script], capture_output=True, text=True, timeout=100,
                          env=os.environ | environment)
    return rows(done.stdout), done.stderr


def rows(text):
    found = collections.defaultdict(list)
    for line in text.splitlines():
        row = json.loads(line)
        found[row.pop('table')].append(row)
    return found


def test_values(cases):
    found, errors = run(SCRIPT, OTEL_SERVICE_NAME='shop', OTEL_RESOURCE_ATTRIBUTES='service.version=1%2C2,host.name=h')
    samples = collections.defaultdict(list)
    for row in found['samples']:
        samples[row['type']].append(row)
    seen = {name: [(r['kind'], r['value'], r.get('upper'), r.get('number')) for r in list] for name, list in samples.items()}
    want = {'count': [('count', 2, None, None)], 'sum_bytes': [('sum', 42, None, None)], 'less': [('sum', -3, None, None)],
            'number': [('number', 7, None, None)], 'low': [('min', 5, None, None)], 'high': [('max', 9, None, None)],
            'mean_us': [('avg', 30, None, 2)], 'h': [('hist', 1, 0, None), ('hist', 2, 7, None), ('hist', 1, (1 << 63) - 1, None)],
            'l': [('lhist', 1, 3, None), ('lhist', 1, (1 << 63) - 1, None)], 'ids': [('count', 1, None, None)]}
    cases.check(seen == want, 'values of maps', *(x for x in seen.items() if x[1] != want.get(x[0])))
    cases.check(samples['count'][0]['labels'] == {'comm': 'strata'} and
                list(samples['mean_us'][0]['labels'].values()) == ['1', 'a', 'a'], 'parts of a key are labels', samples['mean_us'])
    row = samples['sum_bytes'][0]
    cases.check((row['unit'], row['service'], row['version'], row['host']) == ('bytes', 'shop', '1,2', 'h') and
                0 < row['begun'] <= row['ended'], 'unit, service, version, host, times', row)
    logs = [(r['kind'], r['text']) for r in found['logs']]
    cases.check(logs == [('printf', 'hello 5'), ('value', '(1, x)'), ('warnf', 'beware')], 'text is logs', logs)
    cases.check('@words: -f rows has no rows' in errors, 'texts as values are reported', errors)


def test_columns(cases):
    found, _ = run('begin { $service = "cart"; $host = "far"; $trace_id = "0af7651916cd43dd8448eb211c80319c"; '
                   '@[$service, $host, $trace_id, comm] = count(); exit(); }')
    cases.check(set(found['samples'][0]['labels']) == {'service', 'host', 'trace_id', 'comm'}, 'variables are labels',
                found['samples'])
    r = recordings.Recording()
    r.map(key=[{'label': 'service'}, {'label': 'host'}, {'label': 'trace_id'}, {'label': 'comm'}, {'label': 'stack', 'mode': 'func'}])
    r.entry(['cart', 'far', 'ab' * 16, 'x', [r.frame('main')]], 3)
    r.entry(['', 'far', '', 'x', [r.frame('main')]], 4)
    with tempfile.TemporaryDirectory() as home:
        found = rows(recordings.show(STRATA, r.write(pathlib.Path(home) / 'x.json'), '-f', 'rows').decode())
    seen = [(s['service'], s['host'], s['trace_id'], s['labels'], s['value']) for s in found['samples']]
    cases.check(seen == [('cart', 'far', 'ab' * 16, {'comm': 'x'}, 3), ('strata', 'far', '', {'comm': 'x'}, 4)],
                'service, host and trace_id of a key are columns', seen)
    cases.check([s['service'] for s in found['stacks']] == ['cart', 'strata'], '..and a stack is one of the service', found['stacks'])


def test_stacks(cases):
    found, _ = run(STACKS, '-c', f"/usr/bin/python3 -S -E -c '{PROGRAM}'")
    stacks = {r['stack_id']: r['frames'] for r in found['stacks']}
    cases.check(len(stacks) == len(found['stacks']) and all(0 < int(i) < 1 << 64 for i in stacks), 'a stack is one row')
    mine = [r for r in found['samples'] if r['type'] == 'samples']
    whole = sum(r['value'] for r in mine if any('call <string>' in f for f in stacks[r['stack_id']]))
    cases.check(whole == 5 and sum(r['value'] for r in mine) == 6, 'values are the calls', found['samples'])
    cases.check(all(stacks[r['stack_id']][0] == '__getppid' or 'getppid' in stacks[r['stack_id']][0] for r in mine),
                'the innermost frame is the first', list(stacks.values()))
    again, _ = run(STACKS, '-c', f"/usr/bin/python3 -S -E -c '{PROGRAM}'")
    cases.check({(r['stack_id'], *r['frames']) for r in again['stacks']} == {(i, *f) for i, f in stacks.items()},
                'stacks have the same numbers in the next run')


def test_windows(cases):
    found, errors = run(WINDOWS)
    counts = [r for r in found['samples'] if r['type'] == 'n']
    cases.check(len(counts) >= 2 and sum(r['value'] for r in counts) == 40, 'rows of windows add up', counts)
    stacks = [r['value'] for r in found['samples'] if r['type'] == 'st']
    cases.check(sum(stacks) == 40 and len({r['stack_id'] for r in found['stacks']}) == len(found['stacks']),
                '..and stacks are not repeated', found['stacks'])
    found, errors = run('begin { @i = 0; } interval:ms:20 { @n = count(); @last = @i; print(@n); print(@last); @i++; '
                        'if (@i == 5) { exit(); } }')
    cases.check([r['value'] for r in found['samples'] if r['type'] == 'n'] == [5] and '@n only at the end' in errors,
                'print() without clear(): counted once, and reported', found['samples'], errors)
    last = [r['value'] for r in found['samples'] if r['type'] == 'last']
    cases.check(len(last) == 6 and last == sorted(last) and last[-1] == 4, '..but plain numbers have all prints', last)


def main():
    cases = tap.Cases()
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    for test in test_values, test_columns, test_stacks, test_windows:
        test(cases)
    return cases.done()


sys.exit(main())
