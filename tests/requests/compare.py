# SPDX-License-Identifier: Apache-2.0
"""compare.py - runs strata on a program whose calls of getpriority(5, WHO) have known requests, and compares."""
import json
import subprocess

import traced
import waits

SCRIPT = '''config = { max_map_keys = 400000; on_stack_limit = 32 }
tracepoint:syscalls:sys_enter_getpriority /args.which == %d/ { @[args.who, %s] = count(); }'''


def seen(strata, command, values, which):
    """Returns {WHO: the values as texts, or None if it was called more than once}, and strata's messages."""
    program = traced.start(*command)
    waits.reading(program.pid)  # it has opened its libraries
    tracer = subprocess.Popen([strata, '-f', 'json', '-p', str(program.pid), '-e', SCRIPT % (which, ', '.join(values))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        traced.attached_json(tracer)
    except SystemExit:
        program.kill()
        raise
    program.stdin.write(b'go\n')
    program.stdin.close()
    out, err = tracer.communicate()
    program.wait()
    maps = [json.loads(line) for line in out.splitlines() if line.startswith(b'{"type": "map"')]
    found = {}
    for key, n in (maps[0]['data']['@'].items() if maps else ()):
        who, *rest = key.split(',')
        found[int(who)] = rest if n == 1 else None
    return found, err.decode(errors='replace')


def check(cases, what, strata, command, values, wanted, which=5):
    """A case: wanted is {WHO: values}."""
    found, said = seen(strata, command, values, which)
    wrong = {who: (found.get(who), w) for who, w in wanted.items() if found.get(who) != [str(v) for v in w]}
    cases.check(not wrong and len(found) == len(wanted), f'{what}: {len(wanted)} calls',
                f'{len(wrong)} differ, {len(found)} seen; some: (seen, expected)', *list(wrong.items())[:6], said)
