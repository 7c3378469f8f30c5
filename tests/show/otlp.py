#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""otlp.py STRATA - a script's maps, text and losses as OTLP/JSON: each line is one signal, and the numbers are the script's."""
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import recordings
import tap

STRATA = sys.argv[1]
SCRIPT = '''begin {
    @count[comm] = count(); @count[comm] = count(); @sum_bytes = sum(40); @sum_bytes = sum(2); @less = sum(-3);
    @number = 7; @low = min(5); @high = max(9); @mean_us[1, "a"] = avg(10); @mean_us[1, "a"] = avg(20);
    @h = hist(0); @h = hist(1); @h = hist(5); @h = hist(6); @h = hist(1000);
    @l = lhist(-1, 0, 10, 2); @l = lhist(0, 0, 10, 2); @l = lhist(3, 0, 10, 2); @l = lhist(99, 0, 10, 2);
    @words["x"] = "text"; @t[kstack] = count();
    printf("hello %d\\n", 5); print((1, "x")); warnf("beware"); errorf("bad");
    exit();
}'''
STACKS = '''uprobe:libc:getppid { @[ustack, comm, pid] = count(); @other_ns[pystack] = sum(10); }'''
PROGRAM = 'import os\ndef call():\n    os.getppid()\nfor i in range(5): call()\nos.getppid()\n'


def run(script, *more, **environment):
    """Returns the objects that strata printed."""
    done = subprocess.run([STRATA, '-q', '-f', 'otlp', *more, '-e', script], capture_output=True, text=True, timeout=100,
                          env=os.environ | environment)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stdout.splitlines()


def attributes(points):
    return {a['key']: next(iter(a['value'].values())) for a in points['attributes']}


def metrics(objects):
    """Returns {name: (kind, unit, data)}."""
    found = {}
    for o in objects:
        for r in o.get('resourceMetrics', []):
            for m in r['scopeMetrics'][0]['metrics']:
                kind = next(k for k in ('sum', 'gauge', 'histogram') if k in m)
                found[m['name']] = kind, m['unit'], m[kind]
    return found


def value(metric):
    [point] = metric[2]['dataPoints']
    return int(point['asInt'])


def histogram(metric):
    """Returns {upper bound: count} of the buckets with values."""
    [point] = metric[2]['dataPoints']
    bounds, counts = point['explicitBounds'] + ['more'], [int(n) for n in point['bucketCounts']]
    assert len(bounds) == len(counts) and int(point['count']) == sum(counts) and bounds[:-1] == sorted(bounds[:-1])
    return {bound: n for bound, n in zip(bounds, counts) if n}


def test_metrics(cases, objects):
    seen = metrics(objects)
    cases.check(value(seen['count']) == 2 and attributes(seen['count'][2]['dataPoints'][0]) == {'thread.name': 'strata'} and
                seen['count'][2]['isMonotonic'] and seen['count'][2]['aggregationTemporality'] == 2, 'count(): a sum', seen['count'])
    cases.check(value(seen['sum_bytes']) == 42 and seen['sum_bytes'][:2] == ('sum', 'By'), 'sum(): with a unit', seen['sum_bytes'])
    cases.check(value(seen['less']) == -3 and 'isMonotonic' not in seen['less'][2], 'a sum that falls', seen['less'])
    gauges = {name: value(seen[name]) for name in ('number', 'low', 'high') if seen[name][0] == 'gauge'}
    cases.check(gauges == {'number': 7, 'low': 5, 'high': 9}, 'gauges', gauges)
    cases.check((value(seen['mean_us_sum']), value(seen['mean_us_count'])) == (30, 2) and seen['mean_us_sum'][1] == 'us' and
                attributes(seen['mean_us_sum'][2]['dataPoints'][0]) == {'1': '1', '"a"': 'a'}, 'avg(): two sums', seen)
    cases.check(histogram(seen['h']) == {0: 1, 1: 1, 7: 2, 1023: 1}, 'hist(): upper bounds are included', seen['h'])
    cases.check(histogram(seen['l']) == {-1: 1, 1: 1, 3: 1, 'more': 1}, 'lhist()', seen['l'])
    point = seen['count'][2]['dataPoints'][0]
    begun, now = int(point['startTimeUnixNano']), int(point['timeUnixNano'])
    cases.check(0 < begun < now <= time.time_ns(), 'times')


def test_logs(cases, objects):
    records = [r for o in objects for r in o.get('resourceLogs', [])]
    seen = [(l['severityText'], l['eventName'], l['body']['stringValue']) for r in records for l in r['scopeLogs'][0]['logRecords']]
    for want in (('INFO', 'strata.printf', 'hello 5'), ('INFO', 'strata.value', '(1, x)'), ('WARN', 'strata.warnf', 'beware'),
                 ('ERROR', 'strata.errorf', 'bad'), ('INFO', 'strata.map', '@words[x]: text')):
        cases.check(want in seen, f'{want[1]}: a log record', seen)


def test_resource(cases):
    objects, _ = run('begin { @ = count(); exit(); }', OTEL_SERVICE_NAME='shop', OTEL_RESOURCE_ATTRIBUTES=
                     'deployment.environment.name=a%20b,host.name=h,service.name=not')
    seen = attributes(objects[0]['resourceMetrics'][0]['resource'])
    cases.check(seen == {'service.name': 'shop', 'deployment.environment.name': 'a b', 'host.name': 'h', 'os.type': 'linux'},
                'the resource by the environment', seen)
    seen = attributes(run('begin { @ = count(); exit(); }')[0][0]['resourceMetrics'][0]['resource'])
    cases.check(seen == {'service.name': 'strata', 'host.name': os.uname().nodename, 'os.type': 'linux'}, '..and without', seen)


WINDOWS = '''config = { window = 100ms }
begin { @i = 0; }
interval:ms:20 / @i < 40 / { @n = count(); @h = hist(3); @keys[@i] = sum(2); @st[kstack] = count(); @i++; if (@i == 40) { exit(); } }'''


def test_windows(cases):
    """Sums go on from window to window; a profile has the events of its window."""
    objects, _ = run(WINDOWS)
    counts = [value(m) for o in objects for name, m in metrics([o]).items() if name == 'n']
    cases.check(len(counts) >= 4 and counts == sorted(counts) and counts[-1] == 40, 'config window: sums are cumulative', counts)
    seen = metrics(objects)
    cases.check(histogram(seen['h']) == {3: 40}, '..and histograms', seen['h'])
    keys = [int(p['asInt']) for p in seen['keys'][2]['dataPoints']]
    cases.check(keys == [2] * 40, '..with the keys of all windows', keys)
    profiles = [p for o in objects for r in o.get('resourceProfiles', []) for p in r['scopeProfiles'][0]['profiles']]
    total = sum(int(s['values'][0]) for p in profiles for s in p['samples'])
    times = [(int(p['timeUnixNano']), int(p['timeUnixNano']) + int(p['durationNano'])) for p in profiles]
    cases.check(total == 40 and len(times) >= 4, 'profiles are those of a window', total)
    cases.check(all(abs(end - start) < 20e6 for (_, end), (start, _) in zip(times, times[1:])), '..which begins where the last ended',
                times)


def test_many_keys(cases):
    objects, _ = run('config = { window = 50ms } begin { @i = 0; } interval:ms:20 / @i < 6 / { for ($k : 0..500) { @n[@i * 500 + $k] = '
                     'count(); } @i++; if (@i == 6) { exit(); } }')
    points = metrics(objects)['n'][2]['dataPoints']
    rest = [int(p['asInt']) for p in points if attributes(p) == {'otel.metric.overflow': True}]
    cases.check(len(points) == 2001 and rest == [1000], 'from 2,001 series on, the rest is one', len(points), rest)


def test_profiles(cases):
    _, lines = run(STACKS, '-c', f"/usr/bin/python3 -S -E -c '{PROGRAM}'")
    profiles = {p[:2]: p[2] for line in lines if 'resourceProfiles' in line for p in recordings.Otlp(line).profiles}
    cases.check(set(profiles) == {('samples', 'count'), ('other_ns', 'nanoseconds')}, 'a profile for each map', profiles.keys())
    samples = profiles['samples', 'count']
    whole = sum(n for stack, _, n in samples if 'call <string>' in stack)
    cases.check(whole == 5 and sum(n for _, _, n in samples) == 6, 'its values are the calls', samples)
    cases.check(all(set(a) == {'thread.name', 'process.pid'} and a['process.pid'] > 0 for _, a, _ in samples),
                'parts of the key are attributes', samples)


def main():
    cases = tap.Cases()
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    objects, lines = run(SCRIPT)
    cases.check(lines and all(len(o.keys() - {'dictionary'}) == 1 for o in objects), 'a line is one signal', lines)
    test_metrics(cases, objects)
    test_logs(cases, objects)
    test_resource(cases)
    test_windows(cases)
    test_many_keys(cases)
    test_profiles(cases)
    return cases.done()


sys.exit(main())
