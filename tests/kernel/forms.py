#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""forms.py STRATA PROGRAM SOURCE - tests the forms of uprobes: lines of source files, names of C++, addresses,
without a file. PROGRAM is compiled of SOURCE (forms.c)."""
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap

STRATA, PROGRAM, SOURCE = map(os.path.realpath, sys.argv[1:])
if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = tap.Cases()
LINES = pathlib.Path(SOURCE).read_text().splitlines()


def line_of(mark):
    return next(n for n, line in enumerate(LINES, 1) if f'MARK: {mark} ' in line)


def run(script, *options):
    """(lines printed without empty ones, messages)"""
    done = subprocess.run([STRATA, '-q', *options, '-e', script, '-c', PROGRAM], capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if line], done.stderr


def prints(point, *wanted, what='func'):
    """A probe there prints WHAT: these lines in that order."""
    printed, said = run(f'{point} {{ print({what}); }}')
    cases.check(printed == list(wanted), f'{point} {what}'.replace(PROGRAM, 'PROGRAM'), f'printed: {printed}', said)


def refused(point, *texts):
    printed, said = run(f'{point} {{ print(1); }}')
    cases.check(not printed and all(text in said for text in texts), f'{point} is refused'.replace(PROGRAM, 'PROGRAM'),
                *printed, said)


def lists(*args, wanted):
    done = subprocess.run([STRATA, '-l', *args], capture_output=True, text=True)
    cases.check(done.stdout.splitlines() == wanted, f'-l {" ".join(args)}'.replace(PROGRAM, 'PROGRAM'), done)


# Lines: once in each function that has code of it, where that begins.
inlined, loop = line_of('inlined'), line_of('loop')
prints(f'uprobe:{PROGRAM}@forms.c:{inlined}', 'first', 'second')
prints(f'uprobe:{PROGRAM}@kernel/forms.c:{inlined}', 'first', 'second')
prints(f'uprobe:{PROGRAM}@forms.c:{inlined}', *[f'uprobe:{PROGRAM}@forms.c:{inlined}'] * 2, what='probe')
prints(f'uprobe:{PROGRAM}@forms.c:{loop}', 'second')
for at in range(1, 12):
    printed, said = run(f'uprobe:{PROGRAM}@forms.c:{inlined}:{at} {{ print(func); }}')
    if printed:
        break
cases.check(printed == ['first', 'second'], 'a column', f'{at}', said)
refused(f'uprobe:{PROGRAM}@forms.c:1', 'forms.c:1 has no code', 'the next line with code is ')
refused(f'uprobe:{PROGRAM}@forms.c:99999', 'forms.c:99999 has no code')
refused(f'uprobe:{PROGRAM}@forms.c:{inlined}:99', f'forms.c:{inlined} has no code at column 99')
refused(f'uprobe:{PROGRAM}@orms.c:{inlined}', 'has no source file orms.c')
refused(f'uprobe:{PROGRAM}@forms.c:x', 'there is no program or library')
printed, said = run(f'config = {{ missing_probes = "warn" }} uprobe:{PROGRAM}@forms.c:1, uprobe:{PROGRAM}:first '
                    f'{{ print(func); }}')
cases.check(printed == ['first'], 'missing_probes', printed, said)
lists(f'uprobe:{PROGRAM}@forms.c:{loop}', wanted=[f'uprobe:{PROGRAM}@forms.c:{loop}'])

# Names of C++: with and without parameters, result and patterns.
prints(f'uprobe:{PROGRAM}:cpp:"ns::f(int)"', 'ns::f(int)')
prints(f'uprobe:{PROGRAM}:cpp:"ns::f"', 'ns::f(int)', 'ns::f(char const*)')
prints(f'uprobe:{PROGRAM}:cpp:ns::f', 'ns::f(int)', 'ns::f(char const*)')
prints(f'uprobe:{PROGRAM}:cpp:"ns::C::m"', 'ns::C::m(int) const')
prints(f'uprobe:{PROGRAM}:cpp:"int ns::t<int>(int)"', 'int ns::t<int>(int)')
prints(f'uprobe:{PROGRAM}:cpp:"ns::t<int>"', 'int ns::t<int>(int)')
prints(f'uprobe:{PROGRAM}:cpp:second', 'second')
prints(f'uprobe:{PROGRAM}:cpp:"ns::f(*"', 'ns::f(int)', 'ns::f(char const*)')
prints(f'uretprobe:{PROGRAM}:cpp:"ns::f(int)"', '2', what='retval')
prints(f'uprobe:{PROGRAM}:cpp:"ns::f(int)"', '1', what='args.a')
prints(f'uprobe:{PROGRAM}:cpp:"ns::f(int)"', f'uprobe:{PROGRAM}:cpp:"ns::f(int)"', what='probe')
prints(f'uprobe:{PROGRAM}:_ZN2ns1fEi', 'ns::f(int)')
refused(f'uprobe:{PROGRAM}:cpp:"ns::g"', 'has no function ns::g')
refused(f'uprobe:{PROGRAM}:pascal:first', 'a uprobe needs a file and a function')
lists(f'uprobe:{PROGRAM}:cpp:ns::f', wanted=[f'uprobe:{PROGRAM}:cpp:"ns::f({type})"' for type in ('char const*', 'int')])
lists(f'uprobe:{PROGRAM}:_ZN2ns1f*', wanted=[f'uprobe:{PROGRAM}:_ZN2ns1fE{type}' for type in ('PKc', 'i')])

# Addresses and offsets are in a function.
prints(f'uprobe:{PROGRAM}:first+0', 'first')
refused(f'uprobe:{PROGRAM}:first+99999', '+99999 is outside of the function first')

# Without a file: the traced program's. * is all that it loads.
prints('uprobe:first', 'first')
prints('uprobe::first', 'first')
prints('uprobe:*:first', 'first')
prints('uprobe:*:first', f'uprobe:{PROGRAM}:first', what='probe')
done = subprocess.run([STRATA, '-e', 'uprobe:first { print(1); }'], capture_output=True, text=True)
cases.check(done.returncode == 1 and 'a uprobe needs a file and a function' in done.stderr, 'nothing is traced', done)
process = subprocess.Popen(['/usr/bin/python3', '-uc', 'print(); input()'], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
process.stdout.read(1)
done = subprocess.run([STRATA, '-l', '-p', str(process.pid), 'uprobe:*:malloc'], capture_output=True, text=True)
cases.check(any(line.endswith('libc.so.6:malloc') for line in done.stdout.splitlines()), 'all that a process has', done)
done = subprocess.run([STRATA, '-l', '-p', str(process.pid), '-e', 'uprobe:PyErr_Print { }'], capture_output=True,
                      text=True)
cases.check(done.stdout.startswith('uprobe:/usr/bin/python3'), "a process' program", done)
process.communicate(b'\n')
sys.exit(cases.done())
