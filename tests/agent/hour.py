#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hour.py STRATA MINUTES - by hand: the agent with the five units of examples/ and one that counts, next to processes and cgroups
that come and go. Memory of all its processes stays below 200 MB and flat, CPU time within the budget, ten reloads lose no event,
and a unit with a syntax error is reported while the others run. Prints a line a minute, then TAP."""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from agents import Agent, until

STRATA = os.path.realpath(sys.argv[1])
SECONDS = float(sys.argv[2]) * 60
UNITS = pathlib.Path(__file__).resolve().parents[2] / 'examples' / 'units'
CGROUPS = next((path for path in map(pathlib.Path, ('/sys/fs/cgroup/unified', '/sys/fs/cgroup')) if (path / 'cgroup.procs').exists()),
               None)
CPU, CPU_ALL, MEMORY = 0.25, 0.50, 200e6
# The test's own calls, by its number.
COUNTS = f'tracepoint:syscalls:sys_enter_getppid /pid == {os.getpid()}/ {{ @calls = count(); }} // version %d'
TICKS = os.sysconf('SC_CLK_TCK')


class Churn(threading.Thread):
    """Processes, each in a cgroup of its own, until done is set. Most run programs that have run before; each hundredth is a new
    file."""

    def __init__(self, home):
        super().__init__(daemon=True)
        self.done, self.home, self.n, self.calls, self.cgroups = threading.Event(), home, 0, 0, 0

    def enter(self):
        """Returns a new cgroup, or None where there are none."""
        try:
            path = CGROUPS / f'strata-hour-{self.n}'
            path.mkdir()
            self.cgroups += 1
            return path
        except (OSError, TypeError):
            return None

    def run(self):
        while not self.done.is_set():
            self.n += 1
            group = self.enter()
            program = '/usr/bin/python3' if self.n % 5 == 0 else '/bin/sleep'
            if self.n % 100 == 0:
                program = shutil.copy(program, self.home / f'program{self.n}')
            words = [program, '-S', '-c', f'def f{self.n}():\n  return sum(range(100000))\nf{self.n}()'] if self.n % 5 == 0 \
                else [program, '0.1']
            process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
            if group:
                try:
                    (group / 'cgroup.procs').write_text(str(process.pid))
                except OSError:
                    pass
            process.wait()
            if group:
                try:
                    group.rmdir()
                except OSError:
                    pass
            for _ in range(100):
                os.getppid()
            self.calls += 100


def memory(agent):
    """Returns {unit: bytes}; shared pages count once, by their share."""
    found = {}
    for name, pid in {'agent': agent.process.pid, **agent.children()}.items():
        try:
            text = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text()
        except OSError:
            continue
        found[name] = sum(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith('Pss:'))
    return found


def cpu(agent):
    """Returns the seconds of the agent and of its units, past and present."""
    fields = pathlib.Path(f'/proc/{agent.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
    own = sum(int(fields[i]) for i in (11, 12)) / TICKS
    seen = agent.metrics()
    return own + sum(v for k, v in seen.items() if k.startswith('strata_unit_cpu_seconds_total')), seen


def main():
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        scripts = {path.stem: path.read_text() for path in UNITS.glob('*.bt')} | {'counts': COUNTS % 0}
        with Agent(STRATA, home, scripts, args=()) as agent:
            pass
        agent.conf.write_text(f'[agent]\nscripts = {agent.scripts}\nwindow = 10s\nlisten = 127.0.0.1:{agent.port}\n'
                              f'cpu = {CPU * 100}%\ncpu_all = {CPU_ALL * 100}%\n')
        with agent:
            up = until(lambda: all(agent.is_up(name) for name in scripts), 120)
            cases.check(up, f'{len(scripts)} units are up', agent.get('/')[1], agent.errors.read_text())
            churn = Churn(home)
            churn.start()
            begun, sizes, shares, reloads, broken = time.monotonic(), [], [], 0, False
            before, _ = cpu(agent)
            at = begun
            while time.monotonic() - begun < SECONDS:
                time.sleep(min(20, SECONDS / 30))
                used, seen = cpu(agent)
                now = time.monotonic()
                each = memory(agent)
                sizes.append(sum(each.values()))
                shares.append((used - before) / (now - at))
                before, at = used, now
                print(f'# {(now - begun) / 60:.1f} min: {sizes[-1] / 1e6:.0f} MB, {100 * shares[-1]:.2f} % CPU, {churn.n} processes, '
                      f'{churn.cgroups} cgroups, {int(agent.metric("strata_counts_calls_total"))} of {churn.calls} calls; MB: ' +
                      ', '.join(f'{k} {v / 1e6:.0f}' for k, v in sorted(each.items(), key=lambda i: -i[1])), flush=True)
                if now - begun > SECONDS * (reloads + 1) / 12 and reloads < 10:
                    reloads += 1
                    agent.write('counts', COUNTS % reloads)
                    until(lambda: agent.metric('strata_unit_reloads_total{unit="counts"}') == reloads)
                if not broken and now - begun > SECONDS / 2:
                    broken = True
                    agent.write('broken', 'profile:hz:19 { @x = ; }')
                    cases.check(until(lambda: 'broken' in agent.get('/healthz')[1] and '[syntax]' in agent.get('/healthz')[1]),
                                'a unit with a syntax error is reported', agent.get('/healthz')[1])
            churn.done.set()
            churn.join()
            seen = until(lambda: agent.metric('strata_counts_calls_total') >= churn.calls and agent.metrics(), 30) or agent.metrics()
            # While an old and a new process overlap, events count twice; none is lost.
            total = int(seen.get('strata_counts_calls_total', 0))
            cases.check(reloads == 10 and churn.calls <= total <= 1.2 * churn.calls, f'ten reloads lose no event: {total} of '
                        f'{churn.calls}', reloads)
            health = agent.get('/healthz')[1]
            cases.check(all(agent.is_up(name) for name in scripts), 'all units are up at the end', health)
            cases.check(all(seen.get(f'strata_unit_restarts_total{{unit="{name}"}}') == 0 for name in scripts), 'none has crashed',
                        agent.errors.read_text()[-3000:])
            warm = len(sizes) // 4
            early, late = statistics.median(sizes[warm:2 * warm + 1]), statistics.median(sizes[-warm:])
            cases.check(max(sizes) <= MEMORY, f'memory: at most {max(sizes) / 1e6:.0f} MB')
            cases.check(late <= 1.1 * early, f'..and flat: {early / 1e6:.0f} MB in the second quarter, {late / 1e6:.0f} in the last')
            share = statistics.mean(shares[3:])
            cases.check(share <= CPU_ALL, f'CPU: {100 * share:.2f} % of one, {100 * max(shares[3:]):.2f} % at most',
                        *(f'{k} {v}' for k, v in seen.items() if 'cpu_seconds' in k))
            lost = {k: v for k, v in seen.items() if 'lost_total' in k and v}
            print(f'# losses: {lost}')
            print('\n'.join(f'# {k} {v:.1f}' for k, v in seen.items() if 'cpu_seconds' in k))
    return cases.done()


sys.exit(main())
