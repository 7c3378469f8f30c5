#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py STRATA - records and contexts that lie: what strata prints is right or empty, and strata goes on."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
from absent import as_root
import tap
import traced

TRACE = 'ab' * 16
WANTED = {
    0: ('a good record', TRACE, 't1'), 1: ('a record nowhere', '', ''), 2: ('a record in the kernel', '', ''),
    3: ('not valid', '', ''), 4: ('too many attributes', TRACE, 't1'), 5: ('a long attribute', TRACE, ''),
    6: ('a record at the end of the memory', TRACE, 't1'), 7: ('a part of a record', '', ''),
    8: ('control characters', TRACE, 'a\nb\x1b[31m'), 9: ('no trace', '', 't1'), 10: ('no value', TRACE, ''),
    11: ('a long value', TRACE, ('0123456789' * 15)[:127]), 20: ('a context nowhere', TRACE, 't1'),
    21: ('a context of another version', TRACE, 't1'), 22: ('a context without end', TRACE, 't1'),
}
SCRIPT = '''tracepoint:syscalls:sys_enter_getpriority /args.which == 5/ {
    printf("%d|%s|%s\\n", args.who, trace_id, label("tenant"));
}'''


def main(strata):
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as where:
        program = f'{where}/hostile'
        subprocess.run(['gcc', '-O1', '-rdynamic', '-o', program, HERE / 'hostile.c', HERE / 'record.c'], check=True)
        hostile = traced.start(program)
        hostile.stdout.readline()
        tracer = subprocess.Popen([strata, '-f', 'json', '-p', str(hostile.pid), '-e', SCRIPT], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        traced.attached_json(tracer)
        for number, (what, trace, tenant) in WANTED.items():
            hostile.stdin.write(f'{number}\n'.encode())
            hostile.stdin.flush()
            hostile.stdout.readline()
            line = tracer.stdout.readline()
            cases.check(json.loads(line).get('data') == f'{number}|{trace}|{tenant}\n', what, line)
        hostile.stdin.close()
        hostile.wait()
        _, said = tracer.communicate(timeout=60)
        cases.check(tracer.returncode == 0 and 'error' not in said, 'strata ends with the program', said)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(sys.argv[1])))
