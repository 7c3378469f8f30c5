# SPDX-License-Identifier: Apache-2.0
"""java.py - the cost of Java's frames: warm ones, a cold sample, and attaching. Without inlining each method has a frame
of its own."""
import contextlib
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'tests' / 'unwind' / 'hotspot')]
import cold
import javas

SOURCE = TOP / 'tests' / 'bench' / 'Deep.java'
YIELD = 'tracepoint:syscalls:sys_enter_sched_yield'
OPTIONS = {'compiled': ['-XX:-Inline', '-XX:TieredStopAtLevel=1'], 'interpreted': ['-Xint']}


@contextlib.contextmanager
def running(classes, kind, *args):
    command = [*javas.command('17'), *OPTIONS[kind], '-cp', classes, 'Deep', *args]
    with subprocess.Popen(command) as child:
        try:
            time.sleep(2)  # its methods are compiled
            yield child.pid
        finally:
            child.kill()


def frame_rows(row, strata, event_ns, kernel, classes):
    for kind, limit in (('compiled', 0.8), ('interpreted', 1.5)):
        with running(classes, kind, '100', 'yields') as pid:
            command = strata + ['-p', str(pid), '-e']
            frames = int(subprocess.run(command + [YIELD + ' { print(len(ustack)); exit(); }'], capture_output=True,
                                        text=True).stdout)
            ns = event_ns(command + [YIELD + ' { @ = max(len(ustack)); }'])
            row(f'{kind} Java frame, depth 100, of bpf_get_stack (fp)', ns / frames / kernel, limit,
                f'{ns / frames:.1f} ns of {frames}, {kernel:.1f} ns')


def cold_command(classes):
    return [*javas.command('17'), *OPTIONS['compiled'], '-cp', str(classes), 'Deep', '36', 'spins']


def cold_row(row, strata, classes):
    [(median, worst)] = cold.draws(cold_command(classes), lambda pids: cold.sample_ns(strata, pids))
    row('a cold sample of 42 Java frames, of 25 us', median / 25e3, 1.0, f'{median / 1e3:.1f} us, worst {worst / 1e3:.1f}')


def attach_row(row, until_attached, classes):
    with running(classes, 'compiled', '10', 'yields') as pid, tempfile.TemporaryDirectory() as cache:
        until_attached(pid, STRATA_CACHE_DIR=cache)
        warm = statistics.median(until_attached(pid, STRATA_CACHE_DIR=cache) for _ in range(7))
    row('attaching to java 17, its tables kept, of 60 ms', warm / 0.06, 1.0, f'{warm * 1e3:.0f} ms')


def rows(row, strata, event_ns, kernel, until_attached):
    with tempfile.TemporaryDirectory(dir=javas.CACHE.parent) as classes:
        javas.compiled(SOURCE, classes)
        frame_rows(row, strata, event_ns, kernel, classes)
        cold_row(row, strata, classes)
        attach_row(row, until_attached, classes)
