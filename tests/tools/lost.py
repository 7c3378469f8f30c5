#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lost.py STRATA PROGRAM - leak tells lost blocks from those that can still be reached. PROGRAM: lost.c. Prints TAP."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import absent
import waits
from tap import Cases

STRATA, PROGRAM = (os.path.realpath(arg) for arg in sys.argv[1:3])
BLOCKS = 100
WAYS = ['keep_in_table', 'keep_in_list', 'keep_inside', 'lose', 'lose_ring', 'hold']


def blocks(rows, name):
    """Returns the number of blocks of a map, by the function that allocated them."""
    found = {}
    for row in rows:
        for entry in row.get('entries', []) if name in row['data'] else []:
            functions = [frame.get('function') for frame in entry['key'][1]['frames']]
            own = next((f for f in functions if f in WAYS), '?')
            found[own] = found.get(own, 0) + entry['value']['count']
    return found


def main():
    cases = Cases()
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            waits.reading(process.pid)
            tracer = subprocess.Popen([STRATA, 'leak', '-p', str(process.pid), '-d', '30', '-f', 'json'], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
            if 'attached_probes' not in tracer.stdout.readline():
                raise RuntimeError(tracer.communicate(timeout=20))
            process.stdin.write('\n')
            process.stdin.flush()
            process.stdout.readline()
            tracer.terminate()
            out, said = tracer.communicate(timeout=60)
            alive = process.poll() is None
        finally:
            process.kill()
    rows = [json.loads(line) for line in out.splitlines()]
    lost, kept = blocks(rows, '@lost_bytes'), blocks(rows, '@leaked_bytes')
    cases.check(alive, 'the process lives')
    for way in 'lose', 'lose_ring':  # one address may be left in a register or on the stack
        cases.check(BLOCKS - 2 <= lost.get(way, 0) <= BLOCKS, f'{way}: {lost.get(way)} of {BLOCKS} blocks are lost', lost, kept, said)
    for way, n in ('keep_in_table', BLOCKS), ('keep_in_list', BLOCKS), ('keep_inside', BLOCKS), ('hold', 1):
        cases.check(kept.get(way) == n and way not in lost, f'{way}: {n} blocks are reached', lost, kept, said)
    return cases.done()


sys.exit(absent.as_root(main))
