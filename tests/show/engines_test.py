#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""engines_test.py STRATA - DuckDB, chDB and ClickHouse 18.16 (over HTTP) take -f rows with the statements of share/sql, and their
answers are those of strata show for the same recordings. The first run fetches 300 MB."""
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import absent
import engines
import recordings
import tap
from recordings import Recording, show

STRATA = os.path.realpath(sys.argv[1])
NOW = int(time.time())
TIMES = {'from': str(datetime.datetime.fromtimestamp(NOW - 3600, datetime.timezone.utc))[:19],
         'to': str(datetime.datetime.fromtimestamp(NOW + 3600, datetime.timezone.utc))[:19]}
SHOP = {'service': 'shop', 'type': 'samples', **TIMES}


def latencies(path):
    """A map without stacks: a histogram by comm."""
    r = Recording()
    r.lines.append(json.dumps({'type': 'table', 'name': 'lat_us', 'unit': 'microseconds', 'time': 1700000000000000000, 'divided_by': 1,
                               'value': {'kind': 'lhist', 'min': 0, 'max': 200, 'step': 1, 'buckets': 202}, 'key': [{'label': 'comm'}]}))
    for comm, most in ('a', 100), ('b', 50):
        r.entry([comm], *([0] + [1] * most + [0] * (201 - most)))
    return r.write(path)


def rows(path, version, host):
    """Writes the rows of a recording, as if it was made now."""
    done = subprocess.run([STRATA, 'show', path, '-f', 'rows'], capture_output=True, text=True, check=True, env=os.environ | {
        'OTEL_SERVICE_NAME': 'shop', 'OTEL_RESOURCE_ATTRIBUTES': f'service.version={version},host.name={host}'})
    out = path.with_suffix('.rows.jsonl')
    out.write_text(done.stdout.replace('1700000000', str(NOW)).replace('"host": "h"', f'"host": "{host}"'))
    return out


class Want:
    """The numbers of strata's own text."""

    def __init__(self, *paths):
        self.texts = [show(STRATA, path, '-f', 'folded') for path in paths]
        self.totals = [recordings.of_folded(text).all for text in self.texts]

    def functions(self):
        return sum(self.totals, collections.Counter())

    def stacks(self):
        found = collections.Counter()
        for line in b''.join(self.texts).decode().splitlines():
            stack, n = line.rsplit(' ', 1)
            found[stack] += int(n)
        return found


def first(counter, n=1000):
    return sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:n]


def ask(cases, engine, title, want):
    seen = [(row['function'], int(row['total'])) for row in engine.ask('functions', **SHOP)]
    cases.check(len(seen) > 200 and seen == first(want.functions()), f'{title}: totals by function are those of strata', seen[:5],
                first(want.functions())[:5])
    found = engine.ask('flame', version='', **SHOP)
    with tempfile.NamedTemporaryFile('w', suffix='.jsonl') as file:
        file.write(''.join(json.dumps(row) + '\n' for row in found))
        file.flush()
        shown = recordings.of_folded(show(STRATA, file.name, '-f', 'folded')).all
    cases.check(shown == want.functions(), f'{title}: strata show draws the answer', len(found), len(want.stacks()))
    one = engine.ask('flame', version='2', **SHOP)
    cases.check(sum(int(row['value']) for row in one) == sum(int(l.rsplit(b' ', 1)[1]) for l in want.texts[1].splitlines()),
                f'{title}: ..of one version')
    old, new = want.totals
    seen = {row['function']: (int(row['old']), int(row['new'])) for row in engine.ask('diff', before='1', after='2', **SHOP)}
    cases.check(len(seen) > 200 and all(v == (old[k], new[k]) for k, v in seen.items()), f'{title}: the difference of two versions',
                list(seen.items())[:5])
    function = first(want.functions())[10][0]
    seen = {row['host']: int(row['total']) for row in engine.ask('under', function=function, **SHOP)}
    cases.check(seen == {'a': old[function], 'b': new[function]}, f'{title}: totals below a function by host', seen, function)


def percentiles(cases, engine, title):
    seen = {row['part']: (int(row['p99']), int(row['total'])) for row in engine.ask('percentile', label='comm',
                                                                                    **SHOP | {'type': 'lat_us'})}
    cases.check(seen == {'a': (98, 200), 'b': (49, 100)}, f'{title}: the 99th percentile by label', seen)


def main():
    cases = tap.Cases()
    os.environ['TZ'] = 'UTC'
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        old, new = recordings.forest(home / 'old.json', 1000), recordings.forest(home / 'new.json', 1000, seed=2)
        lat = latencies(home / 'lat.json')
        files = [rows(old, 1, 'a'), rows(new, 2, 'b'), rows(lat, 1, 'a'), rows(lat.rename(home / 'lat2.json'), 2, 'b')]
        files.append(home / 'logs.rows.jsonl') # with a stack that is there already
        files[-1].write_text(json.dumps({'table': 'logs', 'time': NOW, 'service': 'shop', 'host': 'a', 'kind': 'printf',
                                         'text': 'a "text"\n'}) + '\n' + files[0].read_text().split('\n')[0] + '\n')
        want = Want(old, new)
        for title, make in (('DuckDB', engines.Duck), ('chDB', engines.Chdb), ('ClickHouse 18.16', engines.ClickHouse)):
            (home / title).mkdir()
            try:
                engine = make(home / title)
            except absent.Missing as error:
                cases.failed += absent.tap_fails(cases.count + 1, title, str(error))
                cases.count += 1
                continue
            try:
                if title.startswith('ClickHouse'):
                    engine.__enter__()
                engine.create()
                for path in files:
                    engine.insert(path)
                ask(cases, engine, title, want)
                if not title.startswith('ClickHouse'): # 18.16 has no labels
                    percentiles(cases, engine, title)
            finally:
                engine.close()
    return cases.done()


sys.exit(main())
