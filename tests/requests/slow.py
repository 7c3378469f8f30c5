#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slow.py STRATA - hold(), keep() and drop(): of the requests of a server, exactly those that turned out slow are counted and
printed, each with all of its stacks; held events beyond the limits are dropped and reported."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
from absent import as_root
import tap
import traced

THREADS, REQUESTS = 4, 2000
SCRIPT = '''config = { max_map_keys = 100000 }
tracepoint:syscalls:sys_enter_getpriority /args.which == 5/ {
    @all = count();
    hold(%(key)s);
    printf("%%d %%s\\n", args.who, ustack[1].func);
    @slow[args.who] = count();
    @stacks[ustack(func, 2)] = count();
}
tracepoint:syscalls:sys_enter_getpriority /args.which == 7 && args.who/ { keep(%(key)s); }
tracepoint:syscalls:sys_enter_getpriority /args.which == 7 && !args.who/ { drop(%(key)s); }
'''
FOREVER = '''config = { %s }
tracepoint:syscalls:sys_enter_getpriority /args.which == 5/ { hold(args.who); printf("%%d\\n", args.who); }
'''


def run(strata, program, script, threads=THREADS, requests=REQUESTS):
    server = traced.start(program, threads, requests)
    tracer = subprocess.Popen([strata, '-f', 'json', '-p', str(server.pid), '-e', script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    traced.attached_json(tracer)
    server.stdin.write(b'go\n')
    server.stdin.close()
    out, said = tracer.communicate()
    server.wait()
    return [json.loads(line) for line in out.splitlines()], said


def compare(cases, strata, program, key):
    lines, said = run(strata, program, SCRIPT % {'key': key})
    slow = {thread * 100000 + i for thread in range(THREADS) for i in range(REQUESTS) if i % 100 == 42}
    printed = [line['data'].split() for line in lines if line['type'] == 'printf']
    maps = {}
    for line in lines:
        if line['type'] == 'map':
            maps.update(line['data'])
    cases.check(maps.get('@all') == THREADS * REQUESTS * 5, f'{key}: what comes before hold() is counted at once',
                maps.get('@all'), said)
    cases.check(maps.get('@slow') == {str(n): 5 for n in slow}, f'{key}: the slow requests are counted, no others',
                list(maps.get('@slow', {}).items())[:5], said)
    wanted = sorted([str(n), f] for n in slow for f in ('parse', 'query', 'query', 'query', 'render'))
    cases.check(sorted(printed) == wanted, f'{key}: and printed, each with its stacks', printed[:5], said)
    order = [f for n, f in printed if n == '42']
    cases.check(order == ['parse', 'query', 'query', 'query', 'render'], f'{key}: in their order', order)
    counts = sorted(maps.get('@stacks', {}).values())
    cases.check(sum(counts) == 5 * len(slow), f'{key}: stacks as keys', maps.get('@stacks'))


def main(strata):
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as where:
        program = f'{where}/slow'
        subprocess.run(['gcc', '-O1', '-g', '-rdynamic', '-pthread', '-o', program, HERE / 'slow.c', HERE / 'record.c'],
                       check=True)
        compare(cases, strata, program, 'trace_id')
        compare(cases, strata, program, 'tid')
        lines, said = run(strata, program, FOREVER % 'max_hold_mb = 1')
        dropped = re.search(r'hold\(\) dropped (\d+) records: all that wait have more than 1 MB', said)
        cases.check(dropped and 1000 < int(dropped[1]) < THREADS * REQUESTS * 5 and not any(
            line['type'] == 'printf' for line in lines), 'more than the limit is dropped and reported', said)
        _, said = run(strata, program, FOREVER % 'max_hold_time = 1ms')
        cases.check(re.search(r'hold\(\) dropped \d+ records, which waited longer than 1 ms', said),
                    'what waits too long is dropped and reported', said)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(sys.argv[1])))
