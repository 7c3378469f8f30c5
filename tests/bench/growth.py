# SPDX-License-Identifier: Apache-2.0
"""growth.py - how the CPU time and the memory of strata grow with the size of its task: a row for each kind of size, with
the exponent e of size^e. 1 is linear.

The exponent is that of the largest size and one of about a quarter. The time of the smallest size is subtracted, since a
constant would hide the growth; memory is the peak, which the start has with few things."""
import contextlib
import math
import os
import signal
import statistics
import subprocess

LIMIT, ROUNDS = 1.1, 3
MORE_KEYS = 1000  # than entries: the kernel makes all of a map's at once

PROCESSES = r'''
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[1]); i++)
        if (!fork())
            for (;;)
                pause();
    puts("ready");
    fflush(stdout);
    pause();
}
'''


def cost(command):
    """Returns (CPU seconds, the largest KiB in memory) of a command, which must succeed."""
    with open(os.devnull, 'w') as nothing:
        child = subprocess.Popen(command, stdout=nothing, stderr=subprocess.PIPE, text=True)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
    if child.returncode:
        raise RuntimeError(said.strip().partition('\n')[0])
    return used.ru_utime + used.ru_stime, used.ru_maxrss


def exponent(sizes, costs):
    """Both are ascending; costs are medians."""
    more = [max(x, 1e-9) for x in costs]
    large = len(sizes) - 1
    some = max(i for i in range(large) if i == 1 or sizes[i] * 4 <= sizes[large])
    return math.log(more[large] / more[some]) / math.log(sizes[large] / sizes[some])


def grow(row, what, sizes, run):
    """run: takes a size, returns what cost() does."""
    try:
        seen = [[statistics.median(x) for x in zip(*(run(n) for _ in range(ROUNDS)))] for n in sizes]
    except RuntimeError as why:
        row(f'growth with {what}: exponent of time', math.inf, LIMIT, str(why))
        return
    times, memory = zip(*seen)
    row(f'growth with {what}: exponent of time', exponent(sizes, [x - times[0] for x in times]), LIMIT,
        ', '.join(f'{n}: {t * 1e3:.0f} ms' for n, t in zip(sizes, times)))
    row(f'growth with {what}: exponent of memory', exponent(sizes, memory), LIMIT,
        ', '.join(f'{n}: {kib / 1024:.0f} MiB' for n, kib in zip(sizes, memory)))


# ---- sizes -------------------------------------------------------------------

def entries(n, prints):
    return f'''config = {{ max_map_keys = {n + MORE_KEYS}; print_maps_on_exit = {"true" if prints else "false"} }}
        begin {{ for ($i : 0..{n}) {{ @[$i] = count(); }} exit(); }}'''


def printed(run, n):
    """The kernel's time to make, fill and free a map is left out: it grows with its misses in the CPU's caches."""
    (seconds, kib), (others, _) = run(entries(n, True)), run(entries(n, False))
    return seconds - others, kib


def lines(n):
    text = '\n'.join(f'if (pid == {i}) {{ printf("%d\\n", {i}); }} @a[{i}] = pid;' for i in range(n // 2))
    return f'begin {{\n{text}\nexit();\n}}'


def probes(names, n):
    return '\n'.join(f'{name} {{ @[{i}] = count(); }}' for i, name in enumerate(names[:n])) + '\nbegin { exit(); }'


def stacks(run, program, n):
    with subprocess.Popen([program, '0']) as child:
        try:
            return run(f'''config = {{ max_map_keys = {n + MORE_KEYS} }} uprobe:{program}:bottom /pid == {child.pid}/ {{
                @[ustack] = count(); @n++; if (@n >= {n}) {{ exit(); }} }}''')
        finally:
            child.kill()


def compiled(work, name, source):
    (work / f'{name}.c').write_text(source)
    subprocess.run(['cc', '-O0', '-w', '-o', work / name, work / f'{name}.c'], check=True)
    return str(work / name)


def uprobes(run, work, n):
    source = ''.join(f'int f{i}(int a) {{ return a + {i}; }}\n' for i in range(n))
    program = compiled(work, f'functions-{n}', source + 'int main(void) { return 0; }\n')
    return run(f'uprobe:{program}:f* {{ @[probe] = count(); }} begin {{ exit(); }}')


@contextlib.contextmanager
def idle(program, n):
    child = subprocess.Popen([program, str(n)], stdout=subprocess.PIPE, start_new_session=True)
    try:
        child.stdout.readline()
        yield
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
        child.wait()


def processes(run, program, n):
    with idle(program, n):
        return run('profile:hz:99 { @[ustack] = count(); } interval:ms:100 { exit(); }')


def growth_rows(row, strata, paths, work):
    work.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(strata + ['-l', 'tracepoint:syscalls:*'], capture_output=True, text=True).stdout.split()
    many = compiled(work, 'processes', PROCESSES)

    def run(script):
        return cost(strata + ['-q', '-e', script])

    grow(row, 'printed map entries', [1000, 10000, 100000, 250000, 1000000], lambda n: printed(run, n))
    grow(row, 'lines of a script', [10, 100, 500, 2000], lambda n: run(lines(n)))
    grow(row, 'probes', [1, 16, 128, 512], lambda n: run(probes(names, n)))
    grow(row, 'stacks', [100, 1000, 10000, 60000, 250000], lambda n: stacks(run, paths, n))
    grow(row, 'uprobes', [10, 100, 1000, 2500, 10000], lambda n: uprobes(run, work, n))
    grow(row, 'processes', [10, 100, 1000, 2500, 10000], lambda n: processes(run, many, n))
