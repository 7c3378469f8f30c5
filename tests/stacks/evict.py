#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evict.py STRATA - the data that strata keeps about files: the cache distinguishes a rebuilt program from the
former one and keeps its limit; strata frees the memory of unused files and still has their names."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
PROGRAMS = 24
# Programs with the same size, build ID and functions, but with another frame size.
SOURCE = '''
#include <unistd.h>
#include <string.h>
__attribute__((noinline)) int %(name)s_inner(char *p) { return getppid() + *p; }
__attribute__((noinline)) int %(name)s_outer(void)
{
    char room[%(size)d];

    memset(room, getpid(), sizeof(room));
    return %(name)s_inner(room) + room[3];
}
int main(void) { return %(name)s_outer() == 5 || usleep(100000); }
'''
# Stacks of 300 depths, twice; calls in between give strata records to read.
DEEP = '''
#include <unistd.h>
__attribute__((noinline)) int deeper(int n) { return n ? deeper(n - 1) + 1 : getppid(); }
static void all(void) { for (int n = 0; n < 300; n++) deeper(n); }
int main(void)
{
    for (int i = 0; i < 10; i++)
        if (i % 5)
            usleep(600000), deeper(0);
        else
            all();
    return 0;
}
'''
DEEP_SCRIPT = '''uprobe:libc:getppid {
    $n = len(ustack);
    if ($n % 50 == 0) { @kept[ustack(addr), $n] = count(); @value[$n] = (ustack(raw), 1); }
    printf("stack %d%s", $n, ustack(addr));
}'''
SCRIPT = 'uprobe:libc:getppid { @[ustack(addr)] = count(); }'

cases = Cases()


def build(path, name, size, *options):
    subprocess.run(['cc', '-O2', '-fomit-frame-pointer', '-fno-stack-protector', '-x', 'c', '-', '-o', path, *options],
                   input=SOURCE % {'name': name, 'size': size}, text=True, check=True)


def trace(cache, command, *options, script=SCRIPT, **settings):
    env = {**os.environ, 'STRATA_CACHE_DIR': str(cache), **{f'BPFTRACE_{k.upper()}': str(v) for k, v in settings.items()}}
    return subprocess.run([STRATA, *options, '-e', script, '-c', command], capture_output=True, text=True, env=env,
                          timeout=120)


def functions(out):
    return [re.findall(r'^ +(\w+)', stack, re.M) for stack in re.findall(r'^@\[\n(.*?)^\]:', out, re.M | re.S)]


def rebuilt(directory):
    cache, program = directory / 'cache', directory / 'rebuilt'
    cache.mkdir(mode=0o700)
    for size in (200, 2000):
        build(program, 'same', size, '-Wl,--build-id=0x0123456789abcdef')
        seen = trace(cache, str(program))
        stacks = functions(seen.stdout)
        cases.check(len(stacks) == 1 and stacks[0][1:4] == ['same_inner', 'same_outer', 'main'] and '[' not in
                    seen.stdout.replace('@[', ''), f'a program with a build id by hand, frame of {size}', seen.stdout, seen.stderr)


def limited_cache(directory):
    cache = directory / 'small'
    cache.mkdir(mode=0o700)
    old = cache / 'table-id-0000'
    old.write_bytes(bytes(2 << 20))
    os.utime(old, (1, 1))
    others = [cache / name for name in ('a.out', '.profile', 'my table-id-0000')]
    for other in others:
        other.write_bytes(bytes(2 << 20))
        os.utime(other, (1, 1))
    left = cache / '.table-id-0000.1'
    left.write_bytes(b'x')
    os.utime(left, (1, 1))
    trace(cache, '/bin/true', max_cache_mb=1)
    cases.check(all(other.exists() for other in others), 'files of others stay in the directory', *map(str, cache.iterdir()))
    for other in others:
        other.unlink(missing_ok=True)
    kept = sum(p.stat().st_blocks * 512 for p in cache.iterdir())
    cases.check(not old.exists() and not left.exists() and 0 < kept <= 1 << 20, 'the cache has a limit',
                *map(str, cache.iterdir()))


def evicted(directory):
    """Runs each program once; in the end the functions of all have names."""
    cache = directory / 'evicted'
    cache.mkdir(mode=0o700)
    for n in range(PROGRAMS):
        build(directory / f'p{n}', f'p{n}', 100 + n, f'-Wl,--defsym=filler={n}')
        with open(directory / f'p{n}', 'ab') as f:
            f.truncate(1 << 20)
    script = directory / 'all.sh'
    script.write_text('\n'.join(f'{directory}/p{n}; rm {directory}/p{n}' + '; sleep 2.5' * (n == PROGRAMS - 4)
                                for n in range(PROGRAMS)) + '\nsleep 0.3\n')
    seen = trace(cache, f'sh {script}', '-v', max_memory_mb=8)
    count = re.search(r'(\d+) evicted', seen.stderr)
    stacks = functions(seen.stdout)
    named = sum([f'p{n}_inner', f'p{n}_outer', 'main'] in [s[1:4] for s in stacks] for n in range(PROGRAMS))
    cases.check(count and int(count.group(1)) >= PROGRAMS // 2, 'files that nothing runs are evicted', seen.stderr)
    cases.check(named == PROGRAMS, f'..and their functions have names: {named} of {PROGRAMS}', seen.stdout[-4000:])


def forgotten(directory):
    """strata forgets stacks that no map has, and learns one again when it comes again."""
    subprocess.run(['cc', '-O1', '-fno-optimize-sibling-calls', '-x', 'c', '-', '-o', directory / 'deep'], input=DEEP,
                   text=True, check=True)
    seen = trace(directory / 'evicted', str(directory / 'deep'), '-v', script=DEEP_SCRIPT, max_memory_mb=1)
    counts = re.findall(r'memory: (\d+) of (\d+) stacks', seen.stderr)
    cases.check(counts and int(counts[0][0]) >= 100, 'stacks that nothing mentions are forgotten', seen.stderr)
    printed = re.findall(r'^stack (\d+)\n((?: +\S+\n)*)', seen.stdout, re.M)
    wrong = [f'{n}: {stack}' for n, stack in printed if stack.count('\n') != int(n)]
    cases.check(len(printed) == 608 and not wrong, f'..and shown when they come again: {len(printed)}', *wrong[:2])
    kept = re.findall(r'^@kept\[\n((?: +\S+\n)*), (\d+)\]: (\d+)$', seen.stdout, re.M)
    values = re.findall(r'^@value\[(\d+)\]: \(\n((?:\w+\n)*), 1\)$', seen.stdout, re.M)
    cases.check(len(kept) >= 6 and all(stack.count('\n') == int(n) for stack, n, _ in kept) and
                sum(int(count) for *_, count in kept) == 2 * len(kept), 'a map\'s keys stay', seen.stdout[-3000:])
    cases.check(len(values) == len(kept) and all(stack.count('\n') == int(n) for n, stack in values), '..and its values',
                seen.stdout[-3000:])


if os.geteuid():
    print('1..0 # skipped: not root')
    sys.exit(0)
with tempfile.TemporaryDirectory() as name:
    rebuilt(pathlib.Path(name))
    limited_cache(pathlib.Path(name))
    evicted(pathlib.Path(name))
    forgotten(pathlib.Path(name))
sys.exit(cases.done())
