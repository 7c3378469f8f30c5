#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export.py STRATA - what a script prints reaches a receiver of OTLP that is slow, busy, away or hostile, or is counted as lost
with the reason: -o http://.., and the agent with its spool."""
import email.utils
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import agents
import tap
from agents import Agent, until
from receivers import Receiver

STRATA = os.path.realpath(sys.argv[1])
TEMPLATE = '''begin { @i = 0; } interval:ms:20 / @i < LAST / { @n = count(); @st[kstack] = count(); printf("line %d\\n", @i); @i++;
    if (@i == LAST) { exit(); } }'''
SCRIPT = TEMPLATE.replace('LAST', '20')
LINES = [f'line {i}' for i in range(20)]
ALL = '''begin { @c["caf\u00e9\\n", 3] = count(); @s = sum(-3); @g = 7; @h = hist(-1); @h = hist(1 << 40); @l = lhist(3, 0, 9, 1);
    @st[kstack, comm] = count(); @a = avg((uint64)18446744073709551615); printf("text"); warnf("warning"); exit(); }'''
# A unit whose lines have numbers.
UNIT = 'begin { @i = 0; } interval:ms:50 { printf("%d\\n", @i); @i++; @n = count(); }'


def script(url, text=SCRIPT, **environment):
    return subprocess.run([STRATA, '-o', url, '-e', text], capture_output=True, text=True, timeout=100,
                          env=os.environ | environment)


def test_script(cases):
    with Receiver() as r:
        done = script(r.url + '/', OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20x,tenant=a')
        cases.check(done.returncode == 0 and 'warning' not in done.stderr, 'a script ends with status 0', done)
        cases.check(r.logs() == LINES and r.metrics().get('n') == 20, 'logs and metrics arrive, in their order', r.objects)
        paths = {path for path, _ in r.objects}
        cases.check(paths == {'/v1/logs', '/v1/metrics', '/v1development/profiles'}, 'each signal has its path', paths)
        headers = r.requests[0][1]
        cases.check(headers.get('Content-Type') == 'application/x-protobuf' and headers.get('Content-Encoding') == 'gzip' and
                    headers.get('authorization') == 'Bearer x' and headers.get('tenant') == 'a' and
                    headers['User-Agent'].startswith('OTel-OTLP-Exporter-strata/'), 'headers', headers)
    with Receiver() as r:
        script(r.url, OTEL_EXPORTER_OTLP_COMPRESSION='none')
        cases.check(r.logs() == LINES and 'Content-Encoding' not in r.requests[0][1], 'without compression', r.requests)


def shape(o):
    """Returns an object without what differs between runs, and without empty lists, which protobuf does not have."""
    if isinstance(o, dict):
        return {k: shape(v) for k, v in o.items() if 'Nano' not in k and k != 'address' and v != []}
    return [shape(v) for v in o] if isinstance(o, list) else o


def test_protobuf(cases):
    """The receiver's decoder knows the protocol, not strata's JSON: what it reads is what JSON would have had."""
    seen = {}
    for protocol in 'http/json', 'http/protobuf':
        with Receiver() as r:
            done = script(r.url, ALL, OTEL_EXPORTER_OTLP_PROTOCOL=protocol)
            kind = {h['Content-Type'] for _, h in r.requests}
            cases.check(done.returncode == 0 and kind == {'application/' + ('json' if 'json' in protocol else 'x-protobuf')}, protocol,
                        done.stderr, kind)
            seen[protocol] = {} # a request may have several lines
            for key, value in ((key, value) for _, o in r.objects for key, value in o.items()):
                seen[protocol].setdefault(key, []).extend(shape(value) if isinstance(value, list) else [shape(value)])
    text = str(seen['http/json'])
    cases.check(seen['http/json'] == seen['http/protobuf'] and all(word in text for word in (
        'histogram', 'gauge', '-3', 'caf\u00e9', 'resourceProfiles', 'stringTable', 'severityText')), '..have the same contents',
        *(f'{key}: {value}\n{seen["http/protobuf"].get(key)}' for key, value in seen['http/json'].items()
          if value != seen['http/protobuf'].get(key)))
    with Receiver({'body': b'\x0a\x0a\x08\x05\x12\x06too\x1bok'}) as r:
        done = script(r.url)
        cases.check('rejected 5 records: too' in done.stderr and '\x1b' not in done.stderr and r.logs() == LINES,
                    'a partial success in protobuf is reported', done.stderr)


def test_later(cases):
    """Temporary failures: nothing is lost, and the pauses are those that the receiver wants."""
    soon = email.utils.formatdate(time.time() + 3, usegmt=True)
    for what, answer, pause in (
            ('429, Retry-After in seconds', {'status': 429, 'headers': {'Retry-After': '1'}}, 1),
            ('429, Retry-After as a date', {'status': 429, 'headers': {'Retry-After': soon}}, 0),
            ('503', {'status': 503}, 0), ('502', {'status': 502}, 0), ('504', {'status': 504}, 0), ('a cut connection', {'cut': True}, 0)):
        with Receiver(answer) as r:
            start = time.monotonic()
            # It runs for long enough, so that the attempts are not the last ones.
            done = script(r.url, TEMPLATE.replace('LAST', '200'))
            lines = r.logs()
            cases.check(done.returncode == 0 and lines == [f'line {i}' for i in range(200)] and r.metrics()['n'] == 200,
                        f'{what}: all is delivered', done, lines)
            cases.check(time.monotonic() - start >= pause and 'output waits' in done.stderr, '..and reported', done.stderr)


def test_refused(cases):
    for status in (400, 401, 413, 500):
        with Receiver({'status': status}) as r:
            done = script(r.url)
            seen = r.logs()
            cases.check(done.returncode == 1 and f'answered with status {status}' in done.stderr and
                        '1 of ' in done.stderr and 'refused' in done.stderr, f'{status} is not tried again, and reported', done.stderr)
            cases.check(seen == LINES[len(LINES) - len(seen):] and len(seen) < 20, '..the rest arrives', seen)
    with Receiver({'body': '{"partialSuccess": {"rejectedLogRecords": "3", "errorMessage": "too\\u001bold"}}'}) as r:
        done = script(r.url)
        cases.check('rejected 3 records: too' in done.stderr and '\x1b' not in done.stderr and r.logs() == LINES,
                    'a partial success is reported, and not repeated', done.stderr, r.logs())
    with Receiver(*[{'body': body} for body in ('', '[', '[' * 100000, b'\x0a\xff\xff', b'\x0a\x05\x12\x7f', b'\xff' * 100, b'\x09', b'\x0a\x00', '{"partialSuccess": 5}', 'x' * (5 << 20))]) as r:
        done = script(r.url)
        cases.check(done.returncode == 0 and r.logs() == LINES, 'strange answers', done.stderr[:1000])


def test_away(cases):
    url = f'http://127.0.0.1:{agents.free_port()}'
    start = time.monotonic()
    done = script(url)
    cases.check(done.returncode == 1 and 'were not delivered: the receiver did not answer before the end' in done.stderr,
                'nobody listens: status 1, and the number of lost messages', done.stderr)
    cases.check(time.monotonic() - start < 30, '..soon')
    done = subprocess.run([STRATA, '-f', 'json', '-o', url, '-e', SCRIPT], capture_output=True, text=True, timeout=60)
    cases.check(done.returncode == 1 and 'only the format otlp' in done.stderr, 'another format is refused', done.stderr)


def numbers(r):
    return sorted(int(line) for line in r.logs())


def conf(port, home, more=''):
    return f'[otlp]\nendpoint = http://127.0.0.1:{port}\nspool = {home}/spool\ntimeout = 2s\n{more}'


def test_spool(cases, home):
    """The receiver is away, the agent is killed, and comes again: all lines that reached the spool are delivered."""
    port = agents.free_port()
    with Agent(STRATA, home, {'lines': UNIT}, conf(port, home)) as agent:
        cases.check(until(lambda: agent.metric('strata_export_spool_requests') >= 12), 'messages wait in the spool',
                    agent.errors.read_text())
        agent.process.kill()
        agent.process.wait()
    files = len(list((home / 'spool').glob('*.gz')))
    (agent.scripts / 'lines.bt').unlink()
    agent.write('other', 'interval:s:1 { @x = count(); }')
    with Receiver(port=port) as r, agent:
        cases.check(until(lambda: agent.metric('strata_export_spool_requests') == 0 and len(r.objects) >= files),
                    'the next agent sends them', agent.get('/metrics')[1])
        seen = numbers(r)
        cases.check(files >= 5 and len(seen) > 5 and seen == list(range(len(seen))), '..each line once', seen)
    with Agent(STRATA, home, {}, conf(port, home)) as agent:
        until(lambda: agent.get('/healthz')[0])
        second = subprocess.run(agent.command(), capture_output=True, text=True, timeout=60)
        cases.check(second.returncode == 1 and ('another process uses the spool' in second.stderr or 'cannot listen' in
                    second.stderr), 'a spool has one user', second.stderr)


def test_links(cases, home):
    """Another user put a link into the place of a file, or may do so."""
    victim = home / 'victim'
    victim.write_text('precious')
    spool = home / 'spool'
    port = agents.free_port()

    def refused(what):
        agent = Agent(STRATA, home, {'lines': UNIT}, conf(port, home))
        done = subprocess.run(['timeout', '20', *agent.command()], capture_output=True, text=True, timeout=60)
        cases.check(done.returncode == 1 and 'spool' in done.stderr and victim.read_text() == 'precious', what, done)

    (home / 'real').mkdir()
    spool.symlink_to(home / 'real')
    refused('a spool that is a link')
    spool.unlink()
    spool.mkdir()
    (spool / 'lock').symlink_to(victim)
    refused('a lock that is a link')
    (spool / 'lock').unlink()
    spool.chmod(0o777)
    refused('a spool that others can write to')
    spool.chmod(0o700)
    os.chown(spool, 65534, 65534)
    refused('a spool of another user')
    os.chown(spool, 0, 0)
    (spool / 'new').symlink_to(victim)
    with Agent(STRATA, home, {'lines': UNIT}, conf(port, home)) as agent:
        cases.check(until(lambda: agent.metric('strata_export_spool_requests') >= 2) and victim.read_text() == 'precious',
                    'a link in the spool is not followed', victim.read_text()[:100])


def test_outage(cases, home):
    """An outage in the middle of a run."""
    port = agents.free_port()
    with Agent(STRATA, home, {'lines': UNIT}, conf(port, home)) as agent:
        with Receiver(port=port) as first:
            until(lambda: len(first.logs()) > 20)
        until(lambda: agent.metric('strata_export_retried_total') >= 1)
        until(lambda: agent.metric('strata_export_spool_requests') >= 3)
        with Receiver(port=port) as second:
            back = until(lambda: len(second.logs()) > 20 and agent.metric('strata_export_spool_requests') == 0)
            agent.process.terminate()
            cases.check(back and agent.process.wait(60) == 0, 'the receiver comes back', agent.errors.read_text())
            seen = sorted(numbers(first) + numbers(second))
            cases.check(seen == list(range(len(seen))) and len(seen) > 40, 'no line is lost, none comes twice', seen)
            total = second.metrics().get('n')
            cases.check(total == len(seen), 'the counter has all', total, len(seen))


def test_slow_end(cases, home):
    """The agent ends while the receiver is slow: it gets the last windows, which are several messages, in more than five seconds."""
    port = agents.free_port()
    more = conf(port, home).replace('timeout = 2s', 'timeout = 10s')
    with Agent(STRATA, home, {'lines': UNIT}, more) as agent, Receiver(port=port) as r:
        until(lambda: len(r.logs()) > 20)
        n = len(r.requests)
        r.answers += [{'seconds': 2}] * 100
        until(lambda: len(r.requests) > n + 1)
        agent.process.terminate()
        code = agent.process.wait(60)
        seen, total = numbers(r), r.metrics().get('n')
        left = sorted(path.name for path in (home / 'spool').iterdir())
        cases.check(code == 0 and total == len(seen) and left == ['lock'], 'a slow receiver gets the last window', total, len(seen), left,
                    agent.errors.read_text())


def test_full(cases, home):
    """A spool that is too small, too old, or on a full disk."""
    port = agents.free_port()
    with Agent(STRATA, home, {'lines': UNIT}, conf(port, home, 'spool_size = 2K\n')) as agent:
        dropped = until(lambda: agent.metric('strata_export_dropped_total{reason="spool"}'))
        cases.check(dropped and agent.metric('strata_export_spool_bytes') <= 2048, 'a full spool loses the oldest, and counts them',
                    agent.get('/metrics')[1])
        with Receiver(port=port) as r:
            until(lambda: agent.metric('strata_export_spool_requests') == 0 and r.logs())
            seen = numbers(r)
            cases.check(seen and seen[0] > 0 and seen == list(range(seen[0], seen[-1] + 1)), '..the rest arrives', seen)
    disk = home / 'disk'
    disk.mkdir()
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=16k,mode=700', 'none', disk], capture_output=True).returncode:
        cases.skip('a full disk', 'cannot mount a tmpfs')
        return
    try:
        with Agent(STRATA, home, {'lines': UNIT}, f'[otlp]\nendpoint = http://127.0.0.1:{port}\nspool = {disk}\n') as agent:
            cases.check(until(lambda: agent.metric('strata_export_dropped_total{reason="disk"}')), 'a full disk is counted',
                        agent.get('/metrics')[1])
            cases.check(agent.errors.read_text().count('cannot write to the spool, and messages are lost: no space') == 1,
                        '..and reported once', agent.errors.read_text())
            with Receiver(port=port) as r:
                cases.check(until(lambda: agent.metric('strata_export_spool_requests') == 0 and r.logs()), '..the agent goes on',
                            agent.errors.read_text())
    finally:
        subprocess.run(['umount', disk], check=True)


def test_headers_file(cases, home):
    (home / 'headers').write_text('# secret\nAuthorization: Bearer token\n')
    with Receiver() as r, Agent(STRATA, home, {'lines': UNIT}, conf(r.port, home, f'headers_file = {home}/headers\n')):
        until(lambda: r.requests)
        cases.check(r.requests and r.requests[0][1].get('Authorization') == 'Bearer token', 'headers_file', r.requests)
        until(lambda: r.objects)
        resource = {a['key']: a['value'].get('stringValue') for _, o in r.objects for k in o.values() if isinstance(k, list)
                    for a in k[0]['resource']['attributes']}
        cases.check(resource.get('strata.unit') == 'lines' and resource.get('host.name'), 'the resource has unit and host', resource)


def main():
    cases = tap.Cases()
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    for test in (test_script, test_protobuf, test_later, test_refused, test_away):
        test(cases)
    for test in (test_spool, test_links, test_outage, test_slow_end, test_full, test_headers_file):
        with tempfile.TemporaryDirectory() as home:
            test(cases, pathlib.Path(home))
    return cases.done()


sys.exit(main())
