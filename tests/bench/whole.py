# SPDX-License-Identifier: Apache-2.0
"""whole.py - whole runs next to bpftrace: long scripts, large maps, many stacks, the end after SIGINT, and probes of
functions that begin with endbr64. Both sides alternate; the rows have medians."""
import os
import signal
import statistics
import subprocess
import time

ROUNDS = 9
LINES, ENTRIES, STACKS = 2000, 1000000, 250000
PROFILE = 'profile:hz:99 { @[ustack] = count(); }'
CALLED = '''
#include <stdint.h>
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) long called(long a) { __asm__ volatile("" : "+r"(a)); return a; }
int main(void)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < 200000; i++)
        called(i);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.1f\\n", ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) / 200000);
    return 0;
}
'''


def medians(n, *functions):
    """Returns the medians of n rounds, in which the functions take turns."""
    seen = [[f() for f in functions] for _ in range(n)]
    return [statistics.median(column) for column in zip(*seen)]


def run(command):
    """Returns (seconds, CPU seconds) of a command, or infinite ones if it fails."""
    start = time.perf_counter()
    with open(os.devnull, 'w') as nothing:
        child = subprocess.Popen(command, stdout=nothing, stderr=nothing)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        return float('inf'), float('inf')
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def line_rows(row, strata, bpftrace):
    text = '\n'.join(f'if (pid == {i}) {{ printf("%d\\n", {i}); }}' for i in range(LINES))
    script = f'begin {{\n{text}\nexit();\n}}'
    ours, theirs = medians(ROUNDS, *(lambda tracer=tracer: run(tracer + ['-e', script])[0] for tracer in (strata, bpftrace)))
    row(f'a script of {LINES} conditions, seconds of bpftrace', ours / theirs, 1.0, f'{ours:.2f} s, {theirs:.2f} s')


def printing(tracer):
    """Returns the CPU seconds that printing a map adds."""
    script = ('config = {{ max_map_keys = {}; print_maps_on_exit = {} }} begin {{ for ($i : 0..{}) {{ @[$i] = count(); }} '
              'exit(); }}')
    with_it, without = (run(tracer + ['-e', script.format(ENTRIES + 1000, prints, ENTRIES)])[1] for prints in ('true', 'false'))
    return with_it - without


def map_rows(row, strata, bpftrace):
    ours, theirs = medians(3, *(lambda tracer=tracer: printing(tracer) for tracer in (strata, bpftrace)))
    row(f'printing {ENTRIES} map entries, CPU time of bpftrace', ours / theirs, 0.5, f'{ours:.2f} s, {theirs:.2f} s')


def stack_seconds(tracer, paths):
    """Returns the CPU seconds of the tracer."""
    with subprocess.Popen([paths, '0']) as child:
        script = (f'config = {{ max_map_keys = {STACKS + 1000} }} uprobe:{paths}:bottom /pid == {child.pid}/ {{ @[ustack] = count(); '
                  f'@n++; if (@n >= {STACKS}) {{ exit(); }} }}')
        try:
            return run(tracer + ['-e', script])[1]
        finally:
            child.kill()


def stack_rows(row, strata, paths):
    """Alone: the program has no frame pointers, so bpftrace sees one stack."""
    seconds = statistics.median(stack_seconds(strata, paths) for _ in range(3))
    row(f'a map of {STACKS} stacks, CPU time, of 1.5 s', seconds / 1.5, 1.0, f'{seconds:.2f} s')


def ending(tracer, script):
    """Returns the seconds from SIGINT to the exit."""
    child = subprocess.Popen(tracer + ['-e', script], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while (line := child.stderr.readline()) and not line.startswith('Attach'):
        pass
    time.sleep(0.3) # its samples
    start = time.perf_counter()
    child.send_signal(signal.SIGINT)
    child.communicate()
    return time.perf_counter() - start


def end_rows(row, strata, bpftrace):
    for what, script in (('a profile', PROFILE), ('a count of tracepoints', 'tracepoint:syscalls:sys_enter_* { @[probe] = count(); }')):
        ours, theirs = medians(ROUNDS, *(lambda tracer=tracer: ending(tracer, script) for tracer in (strata, bpftrace)))
        row(f'SIGINT to exit of {what}, of bpftrace', ours / theirs, 1.0, f'{ours * 1e3:.0f} ms, {theirs * 1e3:.0f} ms')


def call_ns(tracer, program):
    """Returns the ns of a call while it is probed."""
    child = subprocess.Popen(tracer + ['-e', f'uprobe:{program}:called {{ @ = count(); }}'], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    while (line := child.stderr.readline()) and not line.startswith('Attached'):
        pass
    try:
        return float(subprocess.run([program], capture_output=True, text=True).stdout)
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate()


def function_rows(row, strata, bpftrace, work):
    if os.uname().machine != 'x86_64':
        return
    work.mkdir(parents=True, exist_ok=True)
    programs = []
    for name, flag in (('push', 'none'), ('endbr', 'full')):
        programs.append(str(work / name))
        subprocess.run(['cc', '-O1', '-fno-omit-frame-pointer', f'-fcf-protection={flag}', '-o', programs[-1], '-xc', '-'],
                       input=CALLED, text=True, check=True)
    push, endbr = programs
    alone, plain, ours, theirs = medians(
        ROUNDS, lambda: float(subprocess.run([endbr], capture_output=True, text=True).stdout),
        lambda: call_ns(strata, push), lambda: call_ns(strata, endbr), lambda: call_ns(bpftrace, endbr))
    row('an event of a function with endbr64, of one with a push', (ours - alone) / (plain - alone), 1.2,
        f'{ours - alone:.0f} ns, {plain - alone:.0f} ns; bpftrace {theirs - alone:.0f} ns')


def whole_rows(row, strata, bpftrace, paths, work):
    line_rows(row, strata, bpftrace)
    map_rows(row, strata, bpftrace)
    stack_rows(row, strata, paths)
    end_rows(row, strata, bpftrace)
    function_rows(row, strata, bpftrace, work)
