#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trials.py STRATA - a script's tests and benchmarks: --test, --bench. Prints TAP."""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import as_root

STRATA = os.path.realpath(sys.argv[1])
SCRIPT = '''macro add_one(x) { x + 1 }
begin { @sum = 1; printf("begins\\n"); exit(); }
test:adds { if (add_one(@sum) != 2) { return 1; } return 0; }
test:returns { for ($i : 0..100) { if ($i == 50) { return 4; } } return 0; }
test:says { printf("said\\n"); @x[1] = 2; }
test:asserts { assert(@x[1] == 3, "not three"); }
test:exits { exit(0); }
bench:nothing { }
bench:map { @m[cpu] = count(); }
bench:loop { for ($i : 0..100000) { @n++; } }
interval:ms:1 { printf("never\\n"); }
end { printf("ends\\n"); }
'''
TESTED = '''begins
[==========] Running 5 tests.
[ RUN      ] adds
[       OK ] adds
[ RUN      ] returns
[  FAILED  ] returns
[ RUN      ] says
said
[       OK ] says
[ RUN      ] asserts
[  FAILED  ] asserts
[ RUN      ] exits
[       OK ] exits
[==========] 5 tests ran.
[  PASSED  ] 3 tests.
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] returns
[  FAILED  ] asserts
ends
'''
PASSED = {'adds': True, 'returns': False, 'says': True, 'asserts': False, 'exits': True}


def run(*args):
    return subprocess.run([STRATA, *args, '-e', SCRIPT], capture_output=True, text=True, timeout=60)


def results(done, kind):
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: of for line in lines if line['type'] == kind for name, of in line['data'].items()}


def tests(cases):
    done = run('--test')
    text = re.sub(r' \([\d.]+ us\)', '', done.stdout)
    cases.check(text == TESTED and done.returncode == 1, 'tests run in their order, with begin and end',
                done.returncode, done.stdout, done.stderr)
    cases.check('assert failed: not three' in done.stderr, 'an assertion says why', done.stderr)
    done = run('--test', '--probe-filter', 'adds|says')
    cases.check(done.returncode == 0 and '2 tests ran.' in done.stdout, 'those of --probe-filter alone; all pass', done)
    passed = {name: of['passed'] for name, of in results(run('--test', '-f', 'json'), 'test_result').items()}
    cases.check(passed == PASSED, 'as JSON', passed)


def benches(cases):
    done = run('--bench')
    cases.check(done.returncode == 0 and 'Time(ns)' in done.stdout and 'never' not in done.stdout, 'benchmarks', done)
    of = results(run('--bench', '-f', 'json'), 'benchmark_result')
    times = {name: one['average'] for name, one in of.items()}
    cases.check(list(of) == ['nothing', 'map', 'loop'] and all(one['iters'] >= 1000 for one in of.values()),
                'each has its runs', of)
    cases.check(times['nothing'] < times['map'] < times['loop'] and times['loop'] > 50000,
                'and a time that is its own', times)


def main():
    cases = tap.Cases()
    tests(cases)
    benches(cases)
    return cases.done()


sys.exit(as_root(main))
