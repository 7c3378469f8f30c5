#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""startpairs.py [-n ROUNDS] [-e SCRIPT] [-p native|node] STRATA.. - the time of each build from its start until the
probes of a script are attached, by the clock and of the CPUs, and the ratios to the first build's. The builds take turns,
and each has run the script before, so that it has its tables and its image. Without -p, the script is of all processes.

    tests/bench/startpairs.py -p native build/release/src/strata"""
import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import time

PROGRAMS = {'native': ['sleep', '600'], 'node': ['node', '-e', 'setInterval(() => {}, 1e6)']}
CPU_OF_PROCESS = 2  # linux: include/linux/posix-timers.h, CPUCLOCK_SCHED


def cpu_ms(pid):
    """That of all threads of the process, also of those that have ended."""
    return time.clock_gettime(~pid << 3 | CPU_OF_PROCESS) * 1e3


def until_attached(command):
    """Returns the ms by the clock, and the ms of the CPUs."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        said = []
        for line in child.stderr:
            said.append(line)
            if line.startswith('Attached'):
                break
        else:
            raise RuntimeError(''.join(said))
        ms = (time.monotonic() - start) * 1e3, cpu_ms(child.pid)
        child.send_signal(signal.SIGINT)
        child.stderr.read()
    time.sleep(0.1)  # the kernel frees the maps
    return ms


@contextlib.contextmanager
def traced(program):
    if not program:
        yield []
        return
    with subprocess.Popen(PROGRAMS[program], stdout=subprocess.DEVNULL) as child:
        try:
            yield ['-p', str(child.pid)]
        finally:
            child.kill()


def of_one(times, first, what):
    ratios = [t / f for t, f in zip(times, first)]
    return (f'{what} {statistics.median(times):6.1f} ms, ratio {statistics.median(ratios):.2f} '
            f'[{min(ratios):.2f} {max(ratios):.2f}]')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('-n', type=int, default=15, help='number of rounds')
    p.add_argument('-e', default='profile:hz:99 { @[ustack] = count(); }', help='script')
    p.add_argument('-p', choices=PROGRAMS, help='trace only this program')
    p.add_argument('strata', nargs='+')
    args = p.parse_args()
    if os.geteuid():
        p.error('it needs root')
    with traced(args.p) as options:
        commands = [[strata, *options, '-e', args.e] for strata in args.strata]
        for command in commands:
            until_attached(command)
        rows = []
        for i in range(args.n):
            order = range(len(commands)) if i % 2 else reversed(range(len(commands)))
            seen = {k: until_attached(commands[k]) for k in order}
            rows.append([seen[k] for k in range(len(commands))])
    for k, strata in enumerate(args.strata):
        print(*(of_one([row[k][i] for row in rows], [row[0][i] for row in rows], what)
                for i, what in enumerate(('clock', 'CPU'))), strata, sep='  ')


if __name__ == '__main__':
    main()
