#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""missed.py STRATA - while a CPU is inside a program of a tracepoint, the kernel does not run the programs of other
tracepoints on it. It does run a raw tracepoint's program, which counts the same events: the events that the
tracepoint's program saw and those that are reported lost add up to its number. As text and as JSON."""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
EVENT = 'timer:hrtimer_expire_entry'
SCRIPT = f'''
tracepoint:raw_syscalls:sys_enter /pid == cpid/ {{ for ($i : 0..20000) {{ @rounds = $i; }} }}
tracepoint:{EVENT} {{ @seen = count(); }}
rawtracepoint:hrtimer_expire_entry {{ @all = count(); }}
'''
COMMAND = 'dd if=/dev/zero of=/dev/null bs=1 count=3000 status=none'


def strata(*args):
    run = subprocess.run([STRATA, *args, '-c', COMMAND], capture_output=True, text=True, timeout=60)
    return run.stdout, run.stderr


def read_text(out, err):
    numbers = [re.search(pattern, text, re.M) for pattern, text in (
        (r'^@all: (\d+)$', out), (r'^@seen: (\d+)$', out), (r'Lost (\d+) events, counted before any filter: ', err),
        (rf'^warning:   (\d+) of tracepoint:{EVENT}$', err))]
    return [int(number[1]) if number else 0 for number in numbers]


def read_json(out, err):
    lines = [json.loads(line) for line in out.splitlines()]
    maps = {name: value for line in lines if line['type'] == 'map' for name, value in line['data'].items()}
    lost = next((line for line in lines if line['type'] == 'lost_events'), {'count': 0, 'probes': []})
    of_event = [probe['events'] for probe in lost['probes'] if probe['probe'] == f'tracepoint:{EVENT}']
    return [maps.get('@all', 0), maps.get('@seen', 0), lost['count'], sum(of_event)]


def check(cases, form, read):
    out, err = strata('-f', form, '-e', SCRIPT)
    happened, seen, lost, of_event = read(out, err)
    cases.check(of_event > 50 and lost >= of_event and abs(seen + of_event - happened) <= 0.05 * happened,
                f'{form}: of {happened} events {seen} were seen, and {of_event} are reported lost', out, err)


def main():
    cases = Cases()
    if os.geteuid():
        print('1..0 # SKIP not root')
        return 0
    if tuple(map(int, re.findall(r'\d+', platform.release())[:2])) < (6, 7):
        print('1..0 # SKIP the kernel counts them since 6.7')
        return 0
    check(cases, 'text', read_text)
    check(cases, 'json', read_json)
    return cases.done()


if __name__ == '__main__':
    sys.exit(main())
