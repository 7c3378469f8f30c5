#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""files.py STRATA - files of uprobes: relative paths, stripped programs, debug files next to a program, 32-bit programs,
USDT probes of any provider."""
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
LIB = pathlib.Path(__file__).resolve().parents[1] / 'lib'
PROG = r'''
#include "usdt.h"
static volatile int sum;
__attribute__((noinline)) static void leaf(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 1500; i++) leaf(100000); }
__attribute__((noinline)) void step(int n) { sum += n; }
int main(int argc, char **argv)
{
    for (int i = 0; i < 5; i++) {
        step(i);
        PROBE("shop", "sold", "0", OPERAND, "r"(i));
    }
    if (argc > 1)
        work();
    return 0;
}
'''
OPERAND = '"-4@%0"' if platform.machine() == 'x86_64' else '"-4@%w0"'
PROG_32 = r'''
__attribute__((noinline)) int twice(int a, int b) { __asm__ volatile(""); return a * 2 + b; }
void _start(void)
{
    volatile int sum = 0;

    for (int i = 0; i < 3; i++)
        sum += twice(i, 10);
    __asm__ volatile("int $0x80" :: "a"(1), "b"(0));
}
'''


def run(dir, script, command, *options):
    """Returns the printed lines, without empty ones, and the messages."""
    done = subprocess.run([STRATA, '-q', *options, '-e', script, '-c', command], cwd=dir, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if line], done.stderr


def prints(cases, name, dir, script, wanted, command='./prog'):
    seen, said = run(dir, script, command)
    cases.check(seen == wanted, name, seen, said)


def build(dir, *options):
    subprocess.run(['cc', '-O1', '-g', '-w', f'-DOPERAND={OPERAND}', '-I', LIB, *options, '-o', f'{dir}/prog', '-xc', '-'],
                   input=PROG, text=True, check=True)


def paths(cases, dir):
    os.makedirs(f'{dir}/bin', exist_ok=True)
    os.link(f'{dir}/prog', f'{dir}/bin/app')
    for point in ('uprobe:bin/app:step', 'u:bin/app:step /1/', 'u:bin/app:step/1/'):
        prints(cases, point, dir, f'{point} {{ @ = count(); }}', ['@: 5'], 'bin/app')
    prints(cases, 'a slash that begins a predicate', dir, 'uprobe:./prog:step/arg0 > 2/ { @ = count(); }', ['@: 2'])
    prints(cases, 'usdt:FILE::NAME', dir, 'usdt:./prog::sold { @[probe] = count(); }', ['@[usdt:./prog:shop:sold]: 5'])


def named(dir):
    """Checks that stacks and probes have the names of functions that only the debug file has."""
    lines, _ = run(dir, 'profile:hz:499 { @[ustack] = count(); }', './prog work', '-f', 'folded')
    probed, said = run(dir, 'uprobe:./prog:work { print(func); }', './prog work')
    return any('work;leaf' in line for line in lines) and probed == ['work'], lines[:3] + probed + [said]


def debug_files(cases, dir):
    symbols = subprocess.run(['nm', f'{dir}/prog'], capture_output=True, text=True, check=True).stdout
    address = next(line.split()[0] for line in symbols.splitlines() if line.endswith(' step'))
    subprocess.run(['objcopy', '--only-keep-debug', 'prog', 'prog.debug'], cwd=dir, check=True)
    subprocess.run(['strip', 'prog'], cwd=dir, check=True)
    ok, seen = named(dir)
    cases.check(ok, 'PROGRAM.debug next to the program, by build ID', *seen)
    os.rename(f'{dir}/prog.debug', f'{dir}/else.debug')
    prints(cases, 'an address of a stripped program', dir, f'uprobe:./prog:0x{address} {{ @ = count(); }}', ['@: 5'])
    _, said = run(dir, f'uprobe:./prog:{int(address, 16) + 1:#x} {{ }}', './prog')
    if platform.machine() == 'x86_64':
        cases.check('no instruction begins' in said, 'an address within an instruction', said)
    for where in ('.', '.debug'):
        os.makedirs(f'{dir}/{where}', exist_ok=True)
        build(dir, '-Wl,--build-id=none')
        subprocess.run(['objcopy', '--only-keep-debug', 'prog', f'{where}/linked.dbg'], cwd=dir, check=True)
        subprocess.run(['strip', 'prog'], cwd=dir, check=True)
        subprocess.run(['objcopy', f'--add-gnu-debuglink={where}/linked.dbg', 'prog'], cwd=dir, check=True)
        ok, seen = named(dir)
        cases.check(ok, f'.gnu_debuglink in {where}', *seen)
        os.rename(f'{dir}/{where}/linked.dbg', f'{dir}/elsewhere')


def of_32_bits(cases, dir):
    built = subprocess.run(['cc', '-m32', '-O1', '-ffreestanding', '-nostdlib', '-static', '-fno-pic', '-no-pie', '-w', '-o',
                            f'{dir}/prog32', '-xc', '-'], input=PROG_32, text=True)
    if platform.machine() != 'x86_64':
        return
    cases.check(not built.returncode, 'a 32-bit program is built')
    try:
        subprocess.run([f'{dir}/prog32'], check=False)
    except OSError as why:
        cases.skip('uprobe and uretprobe of a 32-bit program', f'this kernel does not run 32-bit programs: {why.strerror}')
        return
    prints(cases, 'uprobe and uretprobe of a 32-bit program', dir,
           'uprobe:./prog32:twice { printf("%s %d %d\\n", func, arg0, arg1); } uretprobe:./prog32:twice { print(retval); }',
           ['twice 0 10', '10', 'twice 1 10', '12', 'twice 2 10', '14'], './prog32')


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    build(dir)
    paths(cases, dir)
    debug_files(cases, dir)
    of_32_bits(cases, dir)
sys.exit(cases.done())
