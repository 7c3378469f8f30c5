#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agent.py STRATA - strata agent: each unit counts what happens, also while its script is replaced; a broken script, a crash
or a hostile client changes nothing for the others."""
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import agents
import tap
from agents import Agent, until

STRATA = os.path.realpath(sys.argv[1])
# The test's own calls of getppid(), by its own number.
COUNTS = f'''// version 0
tracepoint:syscalls:sys_enter_getppid /pid == {os.getpid()}/ {{ @calls = count(); @h = hist(5); @by[comm] = sum((uint64)2); @level = sum(-1); @last = max(7); }}'''
OTHER = 'interval:ms:100 { @ticks = count(); }'
TOTAL = 'strata_counts_calls_total'


def calls(n):
    for _ in range(n):
        os.getppid()


def test_units(cases, home):
    with Agent(STRATA, home, {'counts': COUNTS, 'other': OTHER, 'bad': 'begin { @x = nothing(1); }'}) as agent:
        up = until(lambda: agent.is_up('counts') and agent.is_up('other'))
        cases.check(up, 'units are up', agent.errors.read_text())
        calls(1000)
        seen = until(lambda: agent.metric(TOTAL) == 1000 and agent.metrics())
        cases.check(seen, 'a counter has all events', agent.get('/metrics')[1])
        comm = pathlib.Path('/proc/self/comm').read_text().strip()
        cases.check(seen and seen.get(f'strata_counts_by_total{{thread_name="{comm}"}}') == 2000, '..with labels', seen)
        cases.check(seen and (seen.get('strata_counts_h_bucket{le="7"}'), seen.get('strata_counts_h_bucket{le="+Inf"}'),
                              seen.get('strata_counts_h_count')) == (1000, 1000, 1000), '..a histogram', seen)
        cases.check(seen and (seen.get('strata_counts_last'), seen.get('strata_counts_level')) == (7, -1000), '..gauges', seen)
        cases.check(until(lambda: 'strata_counts_last' not in agent.metrics()) and agent.metric(TOTAL) == 1000 and
                    agent.metric('strata_counts_level') == -1000, '..which are gone when nothing happens; sums stay', agent.metrics())
        status, text = agent.get('/healthz')
        cases.check(status == 200 and 'counts: up' in text and 'unknown function: nothing' in text, 'a broken unit is reported',
                    text)
        cases.check(agent.get('/readyz')[0] == 503, '..and the agent is not ready')
        cases.check('bad: ' in agent.errors.read_text(), '..in its log, with the name', agent.errors.read_text())
        test_reloads(cases, agent)
        test_crash(cases, agent)
        test_clients(cases, agent)
    # Under load, the process that detaches has its own name only some time after its start.
    until(lambda: not agent.children(), 10)
    left = agent.children()
    cases.check(agent.process.returncode == 0 and not left, 'SIGTERM ends all',
                f'status {agent.process.returncode}, left {left}\n{agent.errors.read_text()[-2000:]}')


def test_reloads(cases, agent):
    """While one process makes calls, the script is replaced ten times."""
    done, made, seen = threading.Event(), [0], [agent.metric(TOTAL)]
    start = seen[0]

    def work():
        while not done.is_set():
            calls(100)
            made[0] += 100
            done.wait(0.001)

    worker = threading.Thread(target=work)
    worker.start()
    for version in range(1, 11):
        agent.write('counts', COUNTS.replace('version 0', f'version {version}'))
        until(lambda: agent.metric('strata_unit_reloads_total{unit="counts"}') == version)
        seen.append(agent.metric(TOTAL))
    done.set()
    worker.join()
    reloads = agent.metric('strata_unit_reloads_total{unit="counts"}')
    cases.check(reloads == 10, 'ten reloads by inotify', reloads, agent.errors.read_text())
    cases.check(seen == sorted(seen), 'the counter never falls', seen)
    until(lambda: agent.metric(TOTAL) >= start + made[0])
    total = agent.metric(TOTAL) - start
    cases.check(made[0] <= total <= 1.5 * made[0], 'no event is lost', total, made[0])
    agent.write('counts', 'broken {')
    broken = until(lambda: agent.metric('strata_unit_load_failures_total{unit="counts"}') == 1)
    before = agent.metric(TOTAL)
    calls(500)
    cases.check(broken and until(lambda: agent.metric(TOTAL) >= before + 500), 'a broken script leaves the old one running',
                agent.get('/')[1])
    cases.check('the new script failed' in agent.get('/healthz')[1], '..and the page says so', agent.get('/healthz')[1])
    agent.set('[agent]\nwindow = soon\n')
    agent.hup()
    cases.check(until(lambda: agent.metric('strata_agent_reload_failures_total') == 1) and agent.is_up('other'),
                'a broken agent.conf changes nothing', agent.errors.read_text())
    agent.set('')
    (agent.scripts / 'bad.bt').unlink()
    agent.write('new', OTHER)
    cases.check(until(lambda: agent.is_up('new') and 'bad:' not in agent.get('/healthz')[1]), 'scripts come and go',
                agent.get('/healthz')[1])


def test_crash(cases, agent):
    before = agent.metric('strata_other_ticks_total')
    os.kill(agent.children()['other'], signal.SIGKILL)
    cases.check(until(lambda: agent.metric('strata_unit_restarts_total{unit="other"}') == 1), 'a unit that crashed is started anew',
                agent.get('/')[1])
    cases.check(until(lambda: agent.metric('strata_other_ticks_total') > before), '..and its counters go on')


def processes(agent, name):
    """Returns the pids that run a script, old and new."""
    found = []
    for path in (entry / 'cmdline' for entry in pathlib.Path('/proc').glob('[0-9]*')):
        try:
            if f'{agent.scripts}/{name}.bt'.encode() in path.read_bytes().split(b'\0'):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def zombies(agent):
    found = []
    for path in (entry / 'stat' for entry in pathlib.Path('/proc').glob('[0-9]*')):
        try:
            state, parent = path.read_text().rsplit(')', 1)[1].split()[:2]
        except OSError:
            continue
        if state == 'Z' and int(parent) == agent.process.pid:
            found.append(path.parent.name)
    return found


def version(number):
    return OTHER + f' // version {number}'


def test_fast(cases, home):
    """Changes that come while old processes end, which a signal makes slow, or while new ones start."""
    with Agent(STRATA, home, {'other': OTHER}) as agent:
        until(lambda: agent.is_up('other'))
        for number in range(1, 6):
            for pid in processes(agent, 'other'):
                os.kill(pid, signal.SIGSTOP)
            agent.write('other', version(number))
            until(lambda: agent.metric('strata_unit_reloads_total{unit="other"}') == number)
        cases.check(until(lambda: agent.is_up('other'), 30) and not agent.metric('strata_unit_restarts_total{unit="other"}'),
                    'five fast reloads', agent.get('/')[1], agent.errors.read_text())
        ended = until(lambda: len(processes(agent, 'other')) == 1)
        for number in range(6, 10):
            before = agent.metric('strata_unit_starts_total{unit="other"}')
            agent.write('other', version(number))
            until(lambda: agent.metric('strata_unit_starts_total{unit="other"}') > before)
        cases.check(ended and until(lambda: agent.is_up('other') and not zombies(agent) and len(processes(agent, 'other')) == 1),
                    'changes during a start leave no process', zombies(agent), processes(agent, 'other'))
        pid = processes(agent, 'other')[0]
        os.kill(pid, signal.SIGSTOP)
        scans = agent.metric('strata_agent_reloads_total')
        (agent.scripts / 'other.bt').unlink()
        until(lambda: agent.metric('strata_agent_reloads_total') > scans)
        agent.write('other', version(9))
        until(lambda: agent.metric('strata_agent_reloads_total') > scans + 1)
        os.kill(pid, signal.SIGCONT)
        cases.check(until(lambda: agent.is_up('other') and processes(agent, 'other') not in ([], [pid]), 30),
                    'a script that is removed and comes back runs', agent.get('/')[1])
        pids = until(lambda: len(processes(agent, 'other')) == 1 and processes(agent, 'other'))
        os.kill(pids[0], signal.SIGKILL)
        pids = until(lambda: processes(agent, 'other') not in ([], pids) and processes(agent, 'other'))
        os.kill(pids[0], signal.SIGKILL)
        cases.check(until(lambda: agent.is_up('other') and processes(agent, 'other') not in ([], pids), 30),
                    'a restart that fails is repeated', agent.get('/')[1])


LABELS = """interval:ms:100 { $le = 1; $__x = 2; @c[comm, comm, $__x] = count(); @h[$le, pid, pid] = hist(5); @k[1, 2, 3] = count(); }"""
TOTALS = 'begin { @total = sum((uint64)100); } interval:ms:100 { @total = sum((uint64)0); } // version %d'


def test_series(cases, home):
    with Agent(STRATA, home, {'labels': LABELS, 'kind': 'interval:ms:100 { @v = max(5); }', 'sums': TOTALS % 0}) as agent:
        seen = until(lambda: any('_h_bucket' in key for key in agent.metrics()) and agent.metrics())
        names = [re.findall(r'(\w+)="', key) for key in seen or {} if '{' in key]
        cases.check(names and all(len(set(n)) == len(n) and not any(name.startswith('__') for name in n) for n in names),
                    'each label once, and none that Prometheus keeps', names)
        buckets = [n for n in names if 'le' in n]
        cases.check(buckets and all('key_le' in n for n in buckets), '..nor the le of a histogram', buckets)
        until(lambda: agent.metric('strata_kind_v') == 5)
        agent.write('kind', 'interval:ms:100 { @v = hist(5); }')
        cases.check(until(lambda: agent.metric('strata_kind_v_count')), 'a map becomes a histogram',
                    agent.get('/metrics')[1])
        stopped = []
        for number in range(1, 4):
            until(lambda: agent.metric('strata_sums_total_total') == 100 * number)
            stopped += processes(agent, 'sums')
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            agent.write('sums', TOTALS % number)
            until(lambda: agent.metric('strata_unit_reloads_total{unit="sums"}') == number)
        until(lambda: agent.metric('strata_sums_total_total') == 400)
        for pid in set(stopped):
            os.kill(pid, signal.SIGCONT)
        ended = until(lambda: len(processes(agent, 'sums')) == 1)
        cases.check(ended and agent.metric('strata_sums_total_total') == 400, 'processes that overlap count once',
                    agent.metric('strata_sums_total_total'))


WIDE = 'begin { for ($i : 0..9000) { @wide[$i % 10] = lhist($i / 10, 0, 900, 1); } }'


def test_wide(cases, home):
    """A page has 4,096 buckets of a metric: the last bucket has the values of the others."""
    with Agent(STRATA, home, {'wide': WIDE}) as agent:
        until(lambda: len([key for key in agent.metrics() if '_wide_count' in key]) == 10)
        seen = agent.metrics()
        counts = [v for k, v in seen.items() if '_wide_count' in k]
        cases.check(counts == [900] * 10 and agent.metric('strata_unit_series_dropped_total{unit="wide"}') > 0,
                    'histograms with more buckets than a page have all values', counts)
        last = [v for k, v in seen.items() if '_wide_bucket' in k and 'le="+Inf"' in k]
        cases.check(last == [900] * 10, '..in their last bucket', last)


def test_names(cases, home):
    with Agent(STRATA, home, {'a-b': OTHER, 'a_b': OTHER, 'agent': OTHER, 'c': OTHER}) as agent:
        until(lambda: agent.is_up('a-b') and agent.is_up('c'))
        text, errors = agent.get('/metrics')[1], agent.errors.read_text()
        names = re.findall(r'^# TYPE (\S+)', text, re.M)
        cases.check(names and len(set(names)) == len(names), 'each metric comes once', names)
        cases.check('a_b.bt is refused' in errors and 'agent.bt is refused' in errors, '..other units are refused', errors)


def test_clients(cases, agent):
    cases.check(agent.get('/nothing')[0] == 404, 'an unknown page')
    many = [socket.create_connection(('127.0.0.1', agent.port)) for _ in range(40)]
    start = time.monotonic()
    cases.check(agent.get('/healthz')[0] == 200 and time.monotonic() - start < 4, 'idle clients make room', time.monotonic() - start)
    for s in many:
        s.close()
    many = [socket.create_connection(('127.0.0.1', agent.port)) for _ in range(10)]
    many[0].sendall(b'POST / HTTP/1.1\r\n\r\n')
    cases.check(b' 405 ' in many[0].recv(1000), 'only GET')
    many[1].sendall(b'GET /' + b'x' * 20000)
    cases.check(until(lambda: agent.get('/healthz')[0] == 200, 30), 'slow clients do not block others')
    for s in many:
        s.close()


def test_rights(cases, home):
    with Agent(STRATA, home, {'writable': OTHER, 'fine': OTHER}) as agent:
        until(lambda: agent.is_up('fine'))
        (agent.scripts / 'writable.bt').chmod(0o666)
        agent.hup()
        agent.write('third', OTHER)
        until(lambda: agent.is_up('third'))
        cases.check('users other than its owner can write' in agent.get('/healthz')[1], 'a script that others can change is refused',
                    agent.get('/healthz')[1])
        children = list(agent.children().values())
        agent.process.kill()
        agent.process.wait()
        cases.check(len(children) == 3 and until(lambda: not agent.children()), 'kill -9 leaves no process', agent.children())
    agent.scripts.chmod(0o777)
    done = subprocess.run(agent.command(), capture_output=True, text=True, timeout=60)
    agent.scripts.chmod(0o755)
    cases.check(done.returncode == 1 and 'is refused' in done.stderr, 'a directory that others can change is refused', done.stderr)


def test_manager(cases, home):
    """systemd's protocol."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(home / 'manager'))
        manager.settimeout(30)
        with Agent(STRATA, home, {'other': OTHER}, NOTIFY_SOCKET=str(home / 'manager'), WATCHDOG_USEC='3000000') as agent:
            cases.check(manager.recv(1000).startswith(b'READY=1'), 'READY=1')
            cases.check(manager.recv(1000) == b'WATCHDOG=1', 'WATCHDOG=1')
            agent.hup()
            seen = [manager.recv(1000).split(b'\n')[0] for _ in range(2)]
            while b'WATCHDOG=1' in seen:
                seen.remove(b'WATCHDOG=1')
                seen.append(manager.recv(1000).split(b'\n')[0])
            cases.check(seen == [b'RELOADING=1', b'READY=1'], 'RELOADING=1, READY=1', seen)


def test_modes(cases, home):
    agent = Agent(STRATA, home, {'good': OTHER, 'bad': 'begin { nothing(); }'})
    done = subprocess.run(agent.command('--check'), capture_output=True, text=True, timeout=60)
    cases.check(done.returncode == 1 and done.stdout == 'bad: failed\ngood: ok\n' and 'unknown function' in done.stderr,
                '--check', done.stdout, done.stderr)
    (agent.scripts / 'bad.bt').unlink()
    with agent:
        until(lambda: agent.is_up('good'))
        done = subprocess.run(agent.command('--check'), capture_output=True, text=True, timeout=60)
        cases.check(done.returncode == 0 and done.stdout == 'good: ok\n', '--check while the agent runs', done)
    done = subprocess.run(agent.command('--once'), capture_output=True, text=True, timeout=60)
    ticks = [line for line in done.stdout.splitlines() if line.startswith('strata_good_ticks_total ')]
    cases.check(done.returncode == 0 and len(ticks) == 1 and 1 <= int(ticks[0].split()[1]) <= 4, '--once', done.stdout, done.stderr)


CALLS = 'tracepoint:raw_syscalls:sys_enter / comm == "dd" / { @calls[comm] = count(); }'


def fresh(home, name):
    (home / name).mkdir()
    return home / name


def variables(agent, unit):
    """Returns the environment of the unit's process, or nothing if it has just ended."""
    try:
        return pathlib.Path(f'/proc/{agent.children()[unit]}/environ').read_text().split('\0')
    except (KeyError, OSError):
        return []


def test_budget(cases, home):
    busy = 'interval:us:100 { @n = count(); } profile:hz:4999 { @s[ustack, kstack] = count(); }'
    rigid = 'interval:us:100 { @n = count(); } profile:hz:4999 { @i++; }'
    with Agent(STRATA, home, {'busy': busy, 'rigid': rigid, 'other': OTHER},
               '[unit busy]\ncpu = 0.01%\n[unit rigid]\ncpu = 0.01%\n') as agent:
        cases.check(until(lambda: 'busy: up; it used' in agent.get('/healthz')[1] and
                          'strata_unit_thin{unit="busy"} 32' in agent.get('/metrics')[1]),
                    'a unit over its budget takes fewer samples', agent.get('/healthz')[1], agent.get('/metrics')[1])
        cases.check(until(lambda: 'busy: over budget: stopped: it used' in agent.get('/healthz')[1]) and agent.is_up('other'),
                    '..and is stopped if that does not suffice, with the reason', agent.get('/healthz')[1])
        cases.check('rigid: over budget: stopped: it used' in agent.get('/healthz')[1] and agent.is_up('other'),
                    '..or if its script cannot be thinned', agent.get('/healthz')[1])
    # Events: one unit can count fewer, the other keeps something of each.
    with subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'status=none']) as load, \
            Agent(STRATA, fresh(home, 'events'), {'calls': CALLS, 'last': CALLS.replace('count()', 'nsecs')},
                  '[unit calls]\ncpu = 0.01%\n[unit last]\ncpu = 0.01%\n') as agent:
        said = lambda: agent.get('/healthz')[1]
        cases.check(until(lambda: 'strata_unit_thin{unit="calls"} 32' in agent.get('/metrics')[1]) and 'calls: up; it used' in said() and
                    'takes one sample or event in 32, which counts as 32' in said(), 'events are thinned', said())
        cases.check(until(lambda: 'OTEL_RESOURCE_ATTRIBUTES=strata.unit=calls,strata.sample.weight=32' in variables(agent, 'calls')), '..their weight is exported',
                    variables(agent, 'calls'))
        counts = lambda: re.findall(r'^strata_calls_calls_total\{thread_name="dd"\} (\d+)', agent.get('/metrics')[1], re.M)
        cases.check(until(lambda: len(counts()) == 1 and int(counts()[0]) > 1000), '..and counted', counts())
        cases.check(until(lambda: re.search('last: over budget: stopped: it used .* allowed, but the script cannot be thinned$', said(), re.M)),
                    '..or stopped, if they are not only counted', said())
        load.kill()
    with Agent(STRATA, home, {'busy': busy, 'free': busy + ' // 2'},
               '[unit free]\ncpu = 0%\nmemory = 32M\n[agent]\ncpu = 0.01%\nmemory = 48M\n') as agent:
        stopped = until(lambda: 'busy: over budget' in agent.get('/healthz')[1])
        cases.check(stopped and agent.is_up('free'), '[unit] cpu = 0% is no limit', agent.get('/healthz')[1])
        pid = agent.children()['free']
        environment = pathlib.Path(f'/proc/{pid}/environ').read_bytes().split(b'\0')
        cases.check(b'BPFTRACE_MAX_MEMORY_MB=32' in environment and not any(b'NOTIFY_SOCKET' in v for v in environment),
                    'memory of a unit', environment)


def allowances(agent):
    """Returns [bytes] that the agent allows its processes."""
    for link in pathlib.Path(f'/proc/{agent.process.pid}/fd').iterdir():
        if 'memfd:strata-memory' in os.readlink(link):
            return [n for n in struct.unpack_from('512Q', link.read_bytes()) if n]
    return []


def shared(pid):
    """Returns the bytes of a process's pages that count for other processes."""
    text = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text()
    size = {k: int(re.search(rf'^{k}: +(\d+)', text, re.M).group(1)) << 10 for k in ('Rss', 'Pss')}
    return size['Rss'] - size['Pss']


def test_memory(cases, home):
    """All units share one limit; a unit that has more than its part gives memory back."""
    stacks = 'config = { window = 300ms } profile:hz:199 { @[ustack, kstack] = count(); }'
    limit = 400 << 20

    def parts_fit():
        parts = allowances(agent)
        own = agent.metric('strata_agent_memory_bytes') - sum(agent.metric(f'strata_unit_memory_bytes{{unit="{n}"}}') for n in scripts)
        # The agent looks at shared pages every ten seconds.
        return len(parts) == len(scripts) and own > 0 and \
            sum(parts) - sum(shared(pid) for pid in agent.children().values()) <= limit - own + (20 << 20)

    scripts = {'a': stacks, 'b': stacks + ' // 2', 'small': COUNTS}
    with Agent(STRATA, home, scripts, f'[agent]\nmemory_all = {limit >> 20}M\nmemory = 300M\n') as agent:
        until(lambda: all(agent.is_up(name) for name in scripts))
        # The agent looks at its units in turn, and a unit that has just started uses little.
        least = lambda seen: 0 < seen.get('strata_unit_memory_bytes{unit="small"}', 0) < seen.get('strata_unit_memory_bytes{unit="a"}', 0)
        seen = until(lambda: least(agent.metrics()) and agent.metrics())
        cases.check(seen, 'memory of units', agent.get('/metrics')[1])
        cases.check(seen and seen['strata_agent_memory_limit_bytes'] == limit and seen['strata_agent_memory_over_seconds_total'] == 0 and
                    seen['strata_agent_memory_bytes'] > sum(v for k, v in seen.items() if k.startswith('strata_unit_memory_bytes')),
                    '..and of the agent', seen)
        cases.check(until(parts_fit, 20), '..whose limit is shared out', allowances(agent))
        low = 50 << 20
        agent.set(f'[agent]\nmemory_all = {low >> 20}M\nmemory = 300M\n')
        agent.hup()
        cases.check(until(lambda: max(allowances(agent), default=limit) < limit // 4), 'a lower limit holds at once', allowances(agent))
        cases.check(until(lambda: agent.metric('strata_agent_memory_over_seconds_total') >= 2), '..is counted if it is exceeded',
                    agent.get('/metrics')[1])
        cases.check(all(agent.is_up(name) for name in scripts) and agent.metric('strata_unit_restarts_total{unit="a"}') == 0,
                    '..and ends no unit', agent.get('/healthz')[1], agent.errors.read_text())
        # New programs get no tables then, which is counted; they get them when there is room again.
        refused = 'strata_unit_files_refused{unit="a"}'
        until(lambda: 'new programs get no tables' in agent.errors.read_text())
        program = home / 'program'
        program.write_bytes(pathlib.Path('/bin/sleep').read_bytes() + b'other')
        program.chmod(0o755)
        load = subprocess.Popen([program, '100'])
        cases.check(until(lambda: agent.metric(refused) > 0), '..new programs get no tables', agent.errors.read_text())
        agent.set('[agent]\nmemory_all = 0\nmemory = 300M\n')
        agent.hup()
        cases.check(until(lambda: not allowances(agent)), 'memory_all = 0 is no limit', allowances(agent))
        cases.check(until(lambda: agent.metric(refused) == 0), '..and programs that have none get them', agent.errors.read_text())
        load.kill()
        load.wait()


# Maps the code of the ELF files that its input names, as a loader does.
MAPS = """import mmap, struct, sys
code = []
for path in sys.stdin:
    with open(path.strip(), 'rb') as f:
        head = f.read(4096)
        at, = struct.unpack_from('Q', head, 32)
        segments = [struct.unpack_from('IIQQQQ', head, at + 56 * i) for i in range(struct.unpack_from('H', head, 56)[0])]
        kind, flags, offset, _, _, size = next(s for s in segments if s[0] == 1 and s[1] & 1)
        start = offset // mmap.PAGESIZE * mmap.PAGESIZE
        code.append(mmap.mmap(f.fileno(), offset + size - start, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC,
                              offset=start))"""


class Peaks:
    """The memory of an agent's units since its limit was set."""

    def __init__(self, agent, limit):
        self.agent = agent
        agent.set(f'[agent]\nmemory_all = {limit >> 20}M\nmemory = 1G\n{agent.units}')
        agent.hup()
        until(lambda: agent.metric('strata_agent_memory_limit_bytes') == limit >> 20 << 20)
        self.before = {}
        for name, pid in agent.children().items():
            pathlib.Path(f'/proc/{pid}/clear_refs').write_text('5')
            self.before[name] = self.status(pid, 'VmRSS')

    def status(self, pid, key):
        return int(re.search(rf'^{key}:\s+(\d+) kB', pathlib.Path(f'/proc/{pid}/status').read_text(), re.M).group(1)) << 10

    def read(self):
        """Returns {unit: bytes} by which they were larger at most."""
        return {name: self.status(pid, 'VmHWM') - self.before.get(name, 0) for name, pid in self.agent.children().items()}


def test_peak(cases, home):
    """The limit also holds while tables of large files are made: a table waits until there is room for it. The units look at one
    process, so that nothing else needs memory."""
    stacks = 'config = { window = 300ms } tracepoint:syscalls:sys_enter_read { @[ustack] = count(); }'
    scripts = {'a': stacks, 'b': stacks + ' // 2'}
    cache = home / 'cache'
    cache.mkdir()
    maps = subprocess.Popen([sys.executable, '-c', MAPS], stdin=subprocess.PIPE, text=True)
    units = ''.join(f'[unit {name}]\nargs = -p {maps.pid}\n' for name in scripts)

    def add(name):
        """The process maps a file with much code that no cache knows. Returns what says whether it has a table."""
        path = home / name
        shutil.copy(STRATA, path)
        with path.open('ab') as f:
            f.write(name.encode())
        maps.stdin.write(f'{path}\n')
        maps.stdin.flush()
        size = f'-{path.stat().st_size:x}-'
        return lambda: any(size in file.name and file.name.startswith('table-') for file in cache.iterdir())

    def refused():
        return [agent.metric(f'strata_unit_files_refused{{unit="{name}"}}') for name in scripts]

    with Agent(STRATA, home, scripts, f'[agent]\nmemory_all = 2G\nmemory = 1G\n{units}', STRATA_CACHE_DIR=str(cache)) as agent:
        agent.units = units
        until(lambda: all(agent.is_up(name) for name in scripts) and agent.metric('strata_unit_memory_bytes{unit="b"}'))
        peaks = Peaks(agent, 2 << 30)
        cases.check(until(add('first')), 'a large file gets a table', list(cache.iterdir()))
        needs = max(peaks.read().values())
        used = int(agent.metric('strata_agent_memory_bytes'))
        peaks = Peaks(agent, used // 10 * 7)
        has_table = add('second!')
        until(lambda: all(refused()) or has_table())
        cases.check(all(refused()) and not has_table(), 'without room, the table of a large file is not made', refused(), has_table())
        cases.check(max(peaks.read().values()) < needs // 2, '..and takes no memory', needs, peaks.read())
        Peaks(agent, 2 << 30)
        cases.check(until(lambda: has_table() and not any(refused())), '..until there is room', refused(), has_table())
        peaks = Peaks(agent, used + (8 << 20))
        has_table = add('the third one')
        until(lambda: has_table() or all(refused()))
        cases.check(sum(peaks.read().values()) <= 16 << 20, 'a limit with some room holds', used, needs, peaks.read(), refused())
    maps.communicate()


def main():
    cases = tap.Cases()
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    for test in (test_units, test_fast, test_series, test_wide, test_names, test_rights, test_manager, test_modes, test_budget, test_memory,
                 test_peak):
        with tempfile.TemporaryDirectory() as home:
            test(cases, pathlib.Path(home))
    return cases.done()


sys.exit(main())
