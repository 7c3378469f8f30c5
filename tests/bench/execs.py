# SPDX-License-Identifier: Apache-2.0
"""execs.py - the cost of a profile of the whole machine for programs that run for a millisecond. strata follows each
from its exec to its end."""
import contextlib
import signal
import statistics
import subprocess
import time

SCRIPT = 'profile:hz:99 { @[ustack] = count(); }'
ROUNDS, RUNS = 9, 500
SETTLED = 3 # seconds in which a tracer starts, and reads the existing processes


def cpu_seconds(pid):
    """The CPU time of all threads of a process, by its clock (linux/posix-timers.h)."""
    return time.clock_gettime(~pid << 3 | 2)


@contextlib.contextmanager
def tracing(command):
    child = subprocess.Popen(command + ['-e', SCRIPT], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGCONT)
        child.send_signal(signal.SIGINT)
        child.wait()


def one_round(execs, tracer=None):
    """ns of an exec: by the clock, by its own CPU time, and by the tracer's CPU time."""
    before = cpu_seconds(tracer) if tracer else 0
    wall, own = map(int, subprocess.run([execs, str(RUNS), '/bin/true'], capture_output=True, text=True).stdout.split())
    return wall, own, ((cpu_seconds(tracer) if tracer else 0) - before) / RUNS * 1e9


def exec_rows(row, strata, bpftrace, execs):
    """Rounds with and without a tracer alternate in pairs. The programs of a stopped tracer still run, so it is
    not enough to stop it."""
    seen = {}
    for what, command in (('strata', strata), ('bpftrace', bpftrace)):
        rounds = []
        for _ in range(3):
            alone = [one_round(execs) for _ in range(ROUNDS // 3)]
            with tracing(command) as child:
                time.sleep(SETTLED)
                one_round(execs, child.pid)
                rounds += zip(alone, [one_round(execs, child.pid) for _ in range(ROUNDS // 3)])
        seen[what] = [statistics.median(f(alone, traced) for alone, traced in rounds) for f in (
            lambda a, t: t[0] / a[0], lambda a, t: t[1] / a[1], lambda a, t: t[2])]
    (wall, own, ours), (peer_wall, peer_own, theirs) = seen['strata'], seen['bpftrace']
    row('an exec beside a profile, its CPU time, of one alone', own, 1.05,
        f'of bpftrace {peer_own:.2f}; by the clock {wall:.2f}, {peer_wall:.2f}')
    row("strata's CPU time for an exec, of 0.15 ms", ours / 150e3, 1.0, f'{ours / 1e3:.1f} us, {theirs / 1e3:.1f} us')
