#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""load.py - profiles a server under load by wrk at 199 Hz. It prints the number of whole stacks, the reasons
for the others, and the share of the thread's time of each part of a request, by strata and by V8's own profiler
(node --cpu-prof).

    load.py STRATA [SECONDS [VERSION...]]      root

Both sample the thread that runs JavaScript, and they do not agree: the profiler's signal comes late, and it samples by
wall time. The judge is a third witness, the CPU time that the kernel counts for the thread, which server.js reads
between its parts. The test also prints the hottest functions of both next to each other, and the differences of the
shares of JavaScript's own time, without node's functions of C++ and functions that spend half of their time in those.
This part has no verdict."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import binaries

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import packages  # noqa: E402
from addon import build  # noqa: E402
from traced import attached  # noqa: E402
CACHE = pathlib.Path(os.environ.get('STRATA_PACKAGES') or HERE.parents[2] / 'build' / 'packages')
WHOLE = 99.0   # % of stacks
POINTS = 3.0   # difference from the kernel's clock, in % of the thread's time
PARTS = ('parse', 'search', 'makeText', 'checksum')
HOTTEST = 10
# V8's profiler in node 20 to 24 counts an inlined function as the one it was inlined into; strata does not.
OPTIONS = {'20': ['--no-turbo-inlining'], '22': ['--no-turbo-inlining', '--no-maglev-inlining'],
           '24': ['--no-turbo-inlining', '--no-maglev-inlining']}
# Builtins, functions of C++ and regular expressions count for the calling function of the script, since
# the two profilers show them differently.
SCRIPT = 'profile:hz:199 /pid == %d && tid == pid/ { @u[ustack(512)] = count(); }'
JAVASCRIPT = re.compile(r'(?:\S+ )*?\S+:\d+:\d+')


def stacks(text, name):
    """Yields (lines, count) of each entry of a printed map."""
    for body, n in re.findall(rf'^@{name}\[\n?(.*?)\]: (\d+)$', text, re.M | re.S):
        yield [line.strip() for line in body.splitlines() if line.strip()], int(n)


def whole(text):
    """Returns the number of stacks, the number of whole stacks, and the reasons for the others."""
    total, why = 0, collections.Counter()
    for lines, n in stacks(text, 'u'):
        total += n
        marks = [line for line in lines if re.fullmatch(r'\[(?!Symbol\.).*\]', line)]
        if marks:
            why[marks[-1]] += n
    return total, total - sum(why.values()), why


def part_of(names):
    """Returns the outermost function of a request in a stack, whose names are innermost first."""
    return next((name for name in reversed(names) if name in PARTS), 'rest')


def by_part(text):
    """Shares of all samples in %."""
    seen = collections.Counter()
    for lines, n in stacks(text, 'u'):
        # A line may be a range: "checksum /x/server.js:46-48".
        seen[part_of([place(line)[0] for line in lines if '/server.js:' in line])] += n
    return shares(seen)


def by_function(text):
    """Share in % of all samples, by (name, file's base). Samples in garbage collection are omitted:
    the profiler's clock continues while the thread waits for helper threads."""
    seen, total = collections.Counter(), 0
    for lines, n in stacks(text, 'u'):
        first = next((line for line in lines if 'CollectGarbage' in line or JAVASCRIPT.fullmatch(line)), '')
        if 'CollectGarbage' in first:
            continue
        total += n
        if first:
            seen[place(first)] += n
    return {k: 100 * n / total for k, n in seen.items()} if total else {}


def javascript(text):
    """Samples by (name, file's base): in the function itself, and in node's C++ that it called."""
    own, cxx = collections.Counter(), collections.Counter()
    for lines, n in stacks(text, 'u'):
        at = next((i for i, line in enumerate(lines) if JAVASCRIPT.fullmatch(line)), None)
        if at is not None and not any('CollectGarbage' in line for line in lines[:at]):
            (cxx if any('node::' in line for line in lines[:at]) else own)[place(lines[at])] += n
    return own, cxx


def shares(seen, without=()):
    """Shares in %."""
    total = sum(n for k, n in seen.items() if k not in without)
    return {k: 100 * n / total for k, n in seen.items() if k not in without}


def worst_of(theirs, ours):
    """The hottest functions of the profiler, and the largest difference in points."""
    hottest = sorted(theirs, key=theirs.get, reverse=True)[:HOTTEST]
    return hottest, max((abs(theirs[f] - ours.get(f, 0)) for f in hottest), default=100)


def place(line):
    name, _, rest = line.partition(' ')
    file = re.sub(r'(:\d+)+$', '', rest)
    return ('' if name == '<anonymous>' else name.split('.')[-1], pathlib.Path(file).name)


def own_account(path):
    """Returns the shares from a .cpuprofile, those of samples in JavaScript only, and the shares by part. It counts
    samples, not the time between them, in which other threads may have had the CPU."""
    profile = json.loads(path.read_text())
    nodes = {n['id']: n for n in profile['nodes']}
    above = {child: n['id'] for n in profile['nodes'] for child in n.get('children', ())}
    seen, own, parts, total = collections.Counter(), collections.Counter(), collections.Counter(), 0
    for at in profile['samples']:
        frame = nodes[at]['callFrame']
        if frame['functionName'] in ('(idle)', '(garbage collector)'):
            continue
        total += 1
        names, up = [frame['functionName']], at
        while up in above:
            up = above[up]
            names.append(nodes[up]['callFrame']['functionName'])
        parts[part_of(names)] += 1
        in_javascript = frame['url'] or frame['functionName'].startswith('RegExp: ')
        while not frame['url'] and at in above:
            at = above[at]
            frame = nodes[at]['callFrame']
        if frame['url']:
            name = frame['functionName'].split('.')[-1].split(' ')[-1]
            seen[name, pathlib.Path(frame['url'].removeprefix('file://')).name] += 1
            own[name, pathlib.Path(frame['url'].removeprefix('file://')).name] += bool(in_javascript)
    return {k: 100 * n / total for k, n in seen.items()}, own, shares(parts)


def wrk():
    """Returns the command: this machine's wrk, or Debian's in build/packages."""
    if shutil.which('wrk'):
        return ['wrk']
    tree = CACHE / 'wrk'
    if not (tree / 'usr/bin/wrk').exists():
        packages.unpack_whole(CACHE, 'bookworm', 'amd64', tree, ['wrk'])
    return ['env', f'LD_LIBRARY_PATH={tree}/usr/lib/x86_64-linux-gnu', tree / 'usr/bin/wrk']


def run(strata, node, seconds, *options):
    """Returns (strata's output, V8's own account, shares by part of the thread's clock, requests) of one run."""
    with tempfile.TemporaryDirectory() as directory:
        addon = build(directory)
        server = subprocess.Popen([node, *options, '--cpu-prof', f'--cpu-prof-dir={directory}', '--cpu-prof-interval=1000',
                                   HERE / 'server.js', addon], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = server.stdout.readline().strip()
        tracer = subprocess.Popen([strata, '-p', str(server.pid), '-e', SCRIPT % server.pid], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        attached(tracer)
        load = subprocess.run([*wrk(), '-t1', '-c8', f'-d{seconds}', '-s', HERE / 'load.lua', f'http://127.0.0.1:{port}/'],
                              capture_output=True, text=True, check=True).stdout
        server.stdin.close()
        out = tracer.communicate()[0]
        clock = shares(json.loads(server.stdout.readline()))
        server.wait()
        requests = re.search(r'(\d+) requests in', load).group(1)
        return out, own_account(next(pathlib.Path(directory).glob('*.cpuprofile'))), clock, requests


def main(strata, seconds='60', *versions):
    versions = versions or ('20', '22', '24', '26')
    print(f'1..{2 * len(versions)}')
    failed = 0
    for i, version in enumerate(versions):
        text, (own, inner, their_parts), clock, requests = run(strata, str(binaries.node(version)), seconds, *OPTIONS.get(version, ()))
        total, good, why = whole(text)
        share = 100 * good / max(total, 1)
        bad = share < WHOLE or not total
        print(f"{'not ok' if bad else 'ok'} {2 * i + 1} - node {version}: {share:.2f} % of {total} stacks "
              f'whole, {requests} requests')
        for mark, n in why.most_common():
            print(f'# {n} {mark}')
        parts = by_part(text)
        apart = max(abs(clock[p] - parts.get(p, 0)) for p in clock)
        their_apart = max(abs(clock[p] - their_parts.get(p, 0)) for p in clock)
        failed += bad + (apart > POINTS)
        print(f"{'not ok' if apart > POINTS else 'ok'} {2 * i + 2} - node {version}: each part of a request within "
              f"{apart:.1f} points of the thread's clock; V8's profiler {their_apart:.1f}")
        print('#  clock strata     V8')
        for p in clock:
            print(f'# {clock[p]:6.2f} {parts.get(p, 0):6.2f} {their_parts.get(p, 0):6.2f}  {p}')
        ours = by_function(text)
        hottest = worst_of(own, ours)[0]
        for f in hottest:
            print(f'#        {ours.get(f, 0):6.2f} {own[f]:6.2f}  {" ".join(f)}')
        seen, cxx = javascript(text)
        callers = {f for f in cxx if cxx[f] > seen[f]}
        apart = worst_of(shares(inner, callers), shares(seen, callers))[1]
        print(f"# {apart:.1f} points of JavaScript's own time", flush=True)
    return bool(failed)


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
