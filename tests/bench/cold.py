# SPDX-License-Identifier: Apache-2.0
"""cold.py - the cost of a sample of a profile, 10 ms after the previous sample: only the program has used the caches
in between. Other rows repeat an event as fast as possible, so their caches are warm."""
import contextlib
import glob
import pathlib
import signal
import statistics
import subprocess
import time

PROCESSES = 8 # each process draws its addresses, and so the cache lines that collide
SECONDS = 2.0
PERF_EVENT = '7' # BPF_PROG_TYPE_PERF_EVENT: fdinfo's prog_type

# A chain of functions, each with its own frame; the last one reads more memory than the caches hold.
NATIVE = '''#include <stdint.h>
static uint64_t memory[1 << 20];
static void busy(void)
{
	for (uint64_t at = 1;; at = at * 6364136223846793005ULL + 1442695040888963407ULL)
		memory[at >> 44]++;
}
'''
FRAME = '__attribute__((noinline, aligned(512))) static void f%d(void) { %s; __asm__ volatile(""); }\n'
PYTHON = '''
def busy():
    table = [[i] for i in range(100000)]
    at = 1
    while True:
        at = (at * 1103515245 + 12345) % 100000
        table[at][0] += 1
'''
JAVASCRIPT = '''
function busy() {
    const table = Array.from({length: 100000}, (_, i) => [i]);
    for (let at = 1;;) {
        at = (at * 69069 + 12345) % 100000;
        table[at][0] += 1;
    }
}
'''
DEPTH = 30


def native_program(work):
    """With frame pointers, so that the kernel's walk sees the same frames."""
    frames = ''.join(FRAME % (i, f'f{i - 1}()' if i else 'busy()') for i in range(DEPTH))
    (work / 'cold.c').write_text(NATIVE + frames + f'int main(void) {{ f{DEPTH - 1}(); return 0; }}\n')
    subprocess.run(['cc', '-O2', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', '-o', work / 'cold', work / 'cold.c'],
                   check=True)
    return [str(work / 'cold')]


def chain(text, function):
    return text + ''.join(function(i) for i in range(DEPTH + 10))


def python_program():
    text = chain(PYTHON, lambda i: f'def f{i}():\n    {f"f{i - 1}" if i else "busy"}()\n')
    return ['/usr/bin/python3', '-c', text + f'f{DEPTH + 9}()\n']


def javascript_program(node):
    text = chain(JAVASCRIPT, lambda i: f'function f{i}() {{ {f"f{i - 1}" if i else "busy"}(); }}\n')
    return [node, '-e', text + f'f{DEPTH + 9}();\n']


def cost(pid):
    """(ns, runs) of the sampling programs that a process holds."""
    seen = {}
    for path in glob.glob(f'/proc/{pid}/fdinfo/*'):
        with contextlib.suppress(OSError):
            fields = dict(line.split(':\t', 1) for line in open(path).read().splitlines() if ':\t' in line)
            if fields.get('prog_type') == PERF_EVENT:
                seen[fields['prog_id']] = int(fields['run_time_ns']), int(fields['run_cnt'])
    return tuple(map(sum, zip(*seen.values()))) if seen else (0, 0)


@contextlib.contextmanager
def two(command):
    """A busy load for each of two CPUs."""
    # /tmp exists in the trees of packages, too
    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd='/tmp') for _ in range(2)]
    try:
        time.sleep(1) # node optimises what is hot
        yield [child.pid for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()


def sample_ns(tracer, pids, stack='ustack'):
    """Mean ns of a sample, over all runs of the program, since other processes also get their turn."""
    mine = ' || '.join(f'pid == {pid}' for pid in pids)
    script = f'profile:hz:99 /{mine}/ {{ @[{stack}] = count(); @n = count(); }} interval:ms:100 {{ print(@n); }}'
    child = subprocess.Popen(tracer + ['-e', script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        n = before = 0
        while n < 30: # its own caches are filled
            n = counted(child)
        before, start, end = n, cost(child.pid), time.monotonic() + SECONDS
        while time.monotonic() < end:
            n = counted(child)
        ns = cost(child.pid)[0] - start[0]
    finally:
        child.send_signal(signal.SIGINT)
        child.communicate()
    return ns / max(n - before, 1)


def counted(child):
    for line in child.stdout:
        if line.startswith('@n: '):
            return int(line[4:])
    raise RuntimeError('the tracer ended')


def draws(command, *samplers):
    """[(median, worst)] of each sampler."""
    seen = []
    for _ in range(PROCESSES):
        with two(command) as pids:
            seen.append([sampler(pids) for sampler in samplers])
    return [(statistics.median(column), max(column)) for column in zip(*seen)]


def sample_rows(row, strata, bpftrace, work, node):
    work.mkdir(parents=True, exist_ok=True)
    ours = lambda pids: sample_ns(strata, pids)
    theirs = lambda pids: sample_ns(bpftrace, pids)
    native, kernel = draws(native_program(work), ours, theirs)
    row(f'a cold sample of {DEPTH} native frames, of bpftrace (fp)', native[0] / kernel[0], 1.0,
        f'{native[0] / 1e3:.1f} us, worst {native[1] / 1e3:.1f}; {kernel[0] / 1e3:.1f}, worst {kernel[1] / 1e3:.1f}')
    for what, command, limit in ((f'{DEPTH + 12} Python frames', python_program(), 20e3),
                                 (f'{DEPTH + 12} JavaScript frames', javascript_program(node), 20e3)):
        [(median, worst)] = draws(command, ours)
        row(f'a cold sample of {what}, of 20 us', median / limit, 1.0, f'{median / 1e3:.1f} us, worst {worst / 1e3:.1f}')
