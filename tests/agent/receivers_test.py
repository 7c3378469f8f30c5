#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""receivers_test.py STRATA - what a script counts is what VictoriaMetrics has after -o http://.., and what Prometheus has after it
scraped the agent; promtool finds nothing wrong with the page. Both are Debian's (sid); the first run fetches 150 MB."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import absent
import engines
import tap
from agents import Agent, until

STRATA = os.path.realpath(sys.argv[1])
COUNTS = '''begin { for ($i : 0..100) { @n[$i & 3] = count(); @bytes = sum((uint64)$i); @sizes["a b"] = hist($i); @l = lhist($i, 0, 50, 10);
    @mean = avg((uint64)$i); } @level = sum(-5); @low = min(3); @number = 7; %s }'''
# hist() of 0 to 99, and lhist(0, 50, 10).
HIST = {'0': 1, '1': 2, '3': 4, '7': 8, '15': 16, '31': 32, '63': 64, '127': 100, '+Inf': 100}
LHIST = {'9': 10, '19': 20, '29': 30, '39': 40, '49': 50, '+Inf': 100}


def series(server, path, selector):
    """Returns [(labels, value)] of the last values."""
    query = urllib.parse.urlencode({'query': selector})
    answer = json.loads(server.get(f'{path}/api/v1/query?{query}'))
    return [(r['metric'], float(r['value'][1])) for r in answer['data']['result']]


def buckets(found):
    """Bounds are written in many ways; a bucket that changes nothing may be missing, or be there."""
    return {('+Inf' if labels['le'] == '+Inf' else str(int(float(labels['le'])))): int(value) for labels, value in found}


def contains(seen, want):
    return seen and all(seen[le] == want[le] for le in want if le in seen) and seen.get('+Inf') == want['+Inf'] and \
        sum(le in seen for le in want) >= len(want) - 1


def victoria(cases, home):
    port = engines.free_port()
    command = [*engines.program('victoria-metrics', 'victoria-metrics'), f'-httpListenAddr=127.0.0.1:{port}',
               f'-storageDataPath={home}/data', '-search.latencyOffset=0s', '-memory.allowedPercent=10']
    with engines.Server(command, port, '/health', home) as server:
        done = subprocess.run([STRATA, '-q', '-o', f'{server.url}/opentelemetry', '-e', COUNTS % 'exit();'], capture_output=True,
                              text=True, timeout=100, env=os.environ | {'OTEL_SERVICE_NAME': 'shop'})
        cases.check(done.returncode == 0 and not done.stderr, 'VictoriaMetrics takes metrics', done.stderr)
        until(lambda: server.get('/internal/force_flush') == '' and series(server, '', 'n'))
        found = series(server, '', 'n')
        cases.check(len(found) == 4 and all(value == 25 for _, value in found), '..a counter by label', found)
        for name, want in ('bytes', 4950), ('mean_sum', 4950), ('mean_count', 100), ('level', -5), ('low', 3), ('number', 7):
            found = series(server, '', name)
            cases.check([int(value) for _, value in found] == [want], f'..{name}', found)
        for name, want in ('sizes_bucket', HIST), ('l_bucket', LHIST):
            found = series(server, '', name)
            cases.check(contains(buckets(found), want), f'..{name}', found)


def prometheus(cases, home):
    port, agent = engines.free_port(), Agent(STRATA, home, {'counts': COUNTS % '' + ' interval:s:1 { $x = 1; }', 'broken': 'begin { nothing(); }'})
    (home / 'prometheus.yml').write_text('global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: strata\n  static_configs:\n'
                                         f'  - targets: ["127.0.0.1:{agent.port}"]\n')
    command = [*engines.program('prometheus', 'prometheus'), f'--config.file={home}/prometheus.yml', f'--web.listen-address=127.0.0.1:{port}',
               f'--storage.tsdb.path={home}/tsdb', '--log.level=warn']
    with agent, engines.Server(command, port, '/-/ready', home) as server:
        until(lambda: agent.metric('strata_counts_bytes_total') == 4950 and agent.metric('strata_counts_mean_count_total') == 100)
        page = agent.get('/metrics')[1]
        done = subprocess.run([*engines.program('prometheus', 'promtool'), 'check', 'metrics'], input=page, capture_output=True, text=True)
        cases.check(done.returncode == 0 and not done.stderr, 'promtool check metrics', done.stdout, done.stderr)
        until(lambda: series(server, '', 'strata_counts_bytes_total') and series(server, '', 'strata_counts_sizes_count'))
        cases.check(series(server, '', 'up')[0][1] == 1, 'Prometheus scrapes the agent', series(server, '', 'up'))
        found = series(server, '', 'strata_counts_n_total')
        cases.check(len(found) == 4 and all(value == 25 for _, value in found), '..a counter by label', found)
        for name, want in ('bytes_total', 4950), ('mean_sum_total', 4950), ('mean_count_total', 100), ('level', -5):
            found = series(server, '', f'strata_counts_{name}')
            cases.check([int(value) for _, value in found] == [want], f'..{name}', found)
        for name, want in ('sizes_bucket', HIST), ('l_bucket', LHIST):
            found = series(server, '', f'strata_counts_{name}')
            cases.check(contains(buckets(found), want), f'..{name}', found)
        up = {labels['unit']: int(value) for labels, value in series(server, '', 'strata_unit_up')}
        cases.check(up == {'counts': 1, 'broken': 0}, '..and which units are up', up)


def main():
    cases = tap.Cases()
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    for test in victoria, prometheus:
        with tempfile.TemporaryDirectory() as home:
            try:
                test(cases, pathlib.Path(home))
            except absent.Missing as error:
                cases.count += 1
                cases.failed += absent.tap_fails(cases.count, test.__name__, str(error))
    return cases.done()


sys.exit(main())
