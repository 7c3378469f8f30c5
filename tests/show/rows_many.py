#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rows_many.py STRATA [MILLIONS] - by hand: puts 10 million samples of -f rows into chDB, and prints the bytes of a sample and the
seconds of each query of share/sql, CPU and wall. 100,000 stacks of 50 services, 200 hosts, windows of a day, 5 % with trace ids.
The sums are compared with those that were written. It needs 4 GB of /tmp."""
import collections
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import engines
import recordings

STRATA = os.path.realpath(sys.argv[1])
STACKS, SERVICES, HOSTS, DAY = 100000, 50, 200, 86400
WINDOWS = int(sys.argv[2]) * 10 if len(sys.argv) > 2 else 100


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Timed:
    def __init__(self, what):
        self.what = what

    def __enter__(self):
        self.cpu, self.wall = cpu(), time.monotonic()
        return self

    def __exit__(self, *_):
        self.cpu, self.wall = cpu() - self.cpu, time.monotonic() - self.wall
        print(f'{self.what}: {self.cpu:.2f} s of CPU, {self.wall:.2f} s', flush=True)


def templates(home):
    """Returns (lines of stacks, beginnings and ends of samples by service), as strata writes them."""
    path = recordings.forest(home / 'many.json', STACKS)
    done = subprocess.run([STRATA, 'show', path, '-f', 'rows'], capture_output=True, text=True, check=True)
    stacks, samples = [], []
    for n, line in enumerate(done.stdout.splitlines()):
        row = json.loads(line)
        service = f'service{int(row["stack_id"]) % SERVICES}'
        line = line.replace('"service": "strata"', f'"service": "{service}"', 1)
        if row['table'] == 'stacks':
            stacks.append(line + '\n')
        else:
            samples.append((line, row['value'], service))
    return stacks, samples


def write(home, begin):
    """Yields (path, sum by service) of a few windows."""
    stacks, samples = templates(home)
    rnd, path = random.Random(3), home / 'rows.jsonl'
    for window in range(WINDOWS):
        at, sums = begin + window * DAY // WINDOWS // 10 * 10, collections.Counter()
        with path.open('w') as file:
            if not window:
                file.writelines(stacks)
            for line, value, service in samples:
                new = f'"begun": {at}, "ended": {at + 10}'
                line = line.replace('"begun": 1700000000, "ended": 1700000000', new, 1)
                line = line.replace('"host": "h"', f'"host": "host{rnd.randrange(HOSTS)}"', 1)
                line = line.replace('"labels": {}', f'"labels": {{"comm": "comm{value % 7}"}}', 1)
                if rnd.random() < 0.05:
                    line = line.replace('"stack_id"', f'"trace_id": "{rnd.getrandbits(128):032x}", "stack_id"', 1)
                file.write(line + '\n')
                sums[service] += value
        yield path, sums


def main():
    begin = int(time.time()) // DAY * DAY
    want = collections.Counter()
    os.environ['TZ'] = 'UTC'
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        db = engines.Chdb(home / 'db')
        db.create()
        used = size = 0
        for path, sums in write(home, begin):
            before = cpu()
            db.insert(path)
            used, size, want = used + cpu() - before, size + path.stat().st_size, want + sums
        print(f'{WINDOWS * STACKS} samples, {size / 1e9:.1f} GB of JSON: inserted in {used:.0f} s of CPU, '
              f'{WINDOWS * STACKS / used / 1e6:.2f} M a second')
        for table in 'samples', 'stacks':
            db.run(f'OPTIMIZE TABLE {table} FINAL')
            [row] = db.run('SELECT sum(rows) AS n, sum(data_compressed_bytes) AS size, sum(data_uncompressed_bytes) AS whole '
                           f"FROM system.parts WHERE active AND table = '{table}'").splitlines()
            row = {k: int(v) for k, v in json.loads(row).items()}
            print(f'{table}: {row["n"]} rows, {row["size"] / row["n"]:.2f} bytes a row ({row["whole"] / row["n"]:.0f} uncompressed)')
        seen = {r['service']: int(r['n']) for r in map(json.loads, db.run('SELECT service, sum(value) AS n FROM samples GROUP BY '
                                                                         'service').splitlines())}
        print('sums by service are equal' if seen == dict(want) else f'SUMS DIFFER: {seen}')
        day = {'from': time.strftime('%F %T', time.gmtime(begin)), 'to': time.strftime('%F %T', time.gmtime(begin + DAY))}
        hour = day | {'to': time.strftime('%F %T', time.gmtime(begin + 3600))}
        shop = {'service': 'service7', 'type': 'samples'}
        [function] = db.ask('functions', **shop, **day)[5:6]
        for name, more in (('functions', hour), ('flame', hour | {'version': ''}), ('diff', day | {'before': '1', 'after': '2'}),
                           ('under', day | {'function': function['function']}), ('percentile', day | {'label': 'comm'})):
            with Timed(name):
                rows = db.ask(name, **shop | more)
            print(f'    {len(rows)} rows')
        db.close()
    return seen != dict(want)


sys.exit(main())
