#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outage.py STRATA MINUTES - by hand: the receiver is away for MINUTES in the middle of an agent's run, then refuses for a while
with 429 and Retry-After, in seconds and as a date, and with 503. Each line and each count arrives once, or is counted as lost with
its reason. Prints a line a minute, then TAP."""
import email.utils
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import agents
import tap
from agents import Agent, until
from receivers import Receiver

STRATA = os.path.realpath(sys.argv[1])
SECONDS = float(sys.argv[2]) * 60
UNIT = 'begin { @i = 0; } interval:ms:50 { printf("%d\\n", @i); @i++; @n = count(); }'


def counted(receiver):
    """Returns the largest total: messages of the spool arrive between new ones."""
    return max(int(p['asInt']) for _, o in receiver.objects for r in o.get('resourceMetrics', [])
               for m in r['scopeMetrics'][0]['metrics'] if m['name'] == 'n' for p in m['sum']['dataPoints'])


def main():
    cases = tap.Cases()
    port = agents.free_port()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        conf = f'[otlp]\nendpoint = http://127.0.0.1:{port}\nspool = {home}/spool\ntimeout = 10s\n'
        with Agent(STRATA, home, {'lines': UNIT}, conf) as agent:
            with Receiver(port=port) as first:
                until(lambda: len(first.logs()) > 20)
            begun = time.monotonic()
            while time.monotonic() - begun < SECONDS:
                time.sleep(min(60, SECONDS / 5))
                seen = agent.metrics()
                print(f'# {(time.monotonic() - begun) / 60:.1f} min: ' + ', '.join(
                    f'{k.removeprefix("strata_export_")} {v:.0f}' for k, v in seen.items() if k.startswith('strata_export')), flush=True)
            refusals = [{'status': 429, 'headers': {'Retry-After': '1'}}, {'status': 503}, {'status': 429, 'headers': {
                'Retry-After': email.utils.formatdate(time.time() + 4, usegmt=True)}}]
            with Receiver(*refusals, port=port) as second:
                back = until(lambda: len(second.logs()) > 20 and agent.metric('strata_export_spool_requests') == 0,
                             300 + 3 * SECONDS)  # at twice the rate at which new ones come
                dropped = {k: v for k, v in agent.metrics().items() if 'dropped' in k and v}
                agent.process.terminate()
                cases.check(back and agent.process.wait(60) == 0, 'the receiver comes back', agent.errors.read_text()[-3000:])
                seen = sorted(int(line) for line in first.logs() + second.logs())
                cases.check(not dropped and seen == list(range(len(seen))) and len(seen) > SECONDS * 10,
                            f'{len(seen)} lines: none is lost, none comes twice', dropped, seen[:5], seen[-5:])
                cases.check(counted(second) == len(seen), 'the counter has all', counted(second), sorted((home / 'spool').iterdir()))
    return cases.done()


sys.exit(main())
