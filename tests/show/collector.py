#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""collector.py STRATA - the receiver of the OpenTelemetry Collector takes what -f otlp writes, with the numbers of the other
formats. The receiver is built from Debian's packages of the Collector's source (sid), in build/collector: the first run takes
five minutes and 2.4 GB."""
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
import packages
import recordings
import tap
from recordings import show

STRATA = os.path.realpath(sys.argv[1])
CACHE = TOP / 'build' / 'collector'
PATHS = {'resourceProfiles': '/v1development/profiles', 'resourceMetrics': '/v1/metrics', 'resourceLogs': '/v1/logs'}
SCRIPT = '''begin { @count = count(); @count = count(); @sum = sum(40); @last = 7; @h = hist(5); @h = hist(6); @a = avg(10);
    @a = avg(30); printf("hello"); exit(); }'''


def receiver():
    """Returns the program, which the first call builds."""
    CACHE.mkdir(parents=True, exist_ok=True)
    program, root = CACHE / 'receive', CACHE / 'root'
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            packages.unpack_whole(CACHE, 'sid', 'amd64', root, ['golang-opentelemetry-collector-dev', 'golang-go'])
            go = next((root / 'usr' / 'lib').glob('go-*'))
            subprocess.run([go / 'bin' / 'go', 'build', '-o', program, '.'], cwd=HERE / 'receive', check=True, env=os.environ | {
                'GOROOT': str(go), 'GOPATH': str(root / 'usr' / 'share' / 'gocode'), 'GOCACHE': str(CACHE / 'cache'),
                'GOTOOLCHAIN': 'local', 'GO111MODULE': 'off', 'GOFLAGS': '', 'CGO_ENABLED': '0'})
    return program


def post(at, line):
    """Sends a line; returns the status."""
    kind = next(k for k in PATHS if k in json.loads(line))
    request = urllib.request.Request(f'http://{at}{PATHS[kind]}', line.encode(), {'Content-Type': 'application/json'})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status


SENT = '''begin { @i = 0; @low = min(3); @less = sum(-3); for ($k : 0..100) { @st[kstack] = count(); } }
interval:ms:10 / @i < 100 / { @n = count(); @h = hist(@i); printf("line %d", @i); @i++; if (@i == 100) { exit(); } }'''


def sender(cases, server, at):
    """The sender's own requests, with gzip: merged messages of logs, metrics, profiles."""
    done = subprocess.run([STRATA, '-q', '-o', f'http://{at}', '-e', SENT], capture_output=True, text=True, timeout=100)
    got = []
    while not any('metrics' in g and 'n' in g['metrics'] for g in got) or not any('profiles' in g for g in got):
        got.append(json.loads(server.stdout.readline()))
    values = {k: v for g in got for k, v in g.get('metrics', {}).items()}
    cases.check(done.returncode == 0 and not done.stderr, 'the sender delivers all', done)
    cases.check(values == {'n': 100, 'h': 100, 'i': 100, 'low': 3, 'less': -3}, '..metrics have their totals', values)
    cases.check([t for g in got for t in g.get('logs', [])] == [f'line {i}' for i in range(100)], '..logs, each once, in order', got)
    totals = [g['profiles'] for g in got if 'profiles' in g]
    cases.check(len(totals) == 1 and max(totals[0].values()) == 100, '..and profiles', totals)


def main():
    cases = tap.Cases()
    server = subprocess.Popen([receiver()], stdout=subprocess.PIPE, text=True)
    at = server.stdout.readline().split()[1]
    try:
        with tempfile.TemporaryDirectory() as home:
            path = recordings.mixed(pathlib.Path(home) / 'm.json')
            profiles = show(STRATA, path, '-f', 'otlp').decode()
            want = dict(recordings.of_recording(path.read_bytes()).all)
        cases.check(post(at, profiles) == 200, 'profiles are taken')
        seen = json.loads(server.stdout.readline())['profiles']
        cases.check({name: seen.get(name) for name in want} == want, 'functions have the same totals', seen, want)
        lines = subprocess.run([STRATA, '-q', '-f', 'otlp', '-e', SCRIPT], capture_output=True, text=True).stdout.splitlines()
        cases.check(lines and all(post(at, line) == 200 for line in lines), 'metrics and logs are taken')
        got = [json.loads(server.stdout.readline()) for _ in lines]
        values = {k: v for g in got for k, v in g.get('metrics', {}).items()}
        cases.check(values == {'count': 2, 'sum': 40, 'last': 7, 'h': 2, 'a_count': 2, 'a_sum': 40}, 'metrics', values)
        cases.check({'logs': ['hello']} in got, 'logs', got)
        sender(cases, server, at)
    finally:
        server.kill()
        server.wait()
    return cases.done()


sys.exit(main())
