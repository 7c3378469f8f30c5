#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""forms.py STRATA PROGRAM SOURCE LIBRARY - tests the forms of uprobes: lines of source files, names of C++, addresses,
no file, libraries in archives. PROGRAM is compiled from SOURCE (forms.c), LIBRARY from member.c."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap

STRATA, PROGRAM, SOURCE, LIBRARY = map(os.path.realpath, sys.argv[1:])
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
    """A probe at this place that prints an expression prints these lines, in this order."""
    printed, said = run(f'{point} {{ print({what}); }}')
    cases.check(printed == list(wanted), f'{point} {what}'.replace(PROGRAM, 'PROGRAM'), f'printed: {printed}', said)


def refused(point, *texts):
    printed, said = run(f'{point} {{ print(1); }}')
    cases.check(not printed and all(text in said for text in texts), f'{point} is refused'.replace(PROGRAM, 'PROGRAM'),
                *printed, said)


def lists(*args, wanted):
    done = subprocess.run([STRATA, '-l', *args], capture_output=True, text=True)
    cases.check(done.stdout.splitlines() == wanted, f'-l {" ".join(args)}'.replace(PROGRAM, 'PROGRAM'), done)


# A line: the probe fires once in each function that has code of the line, where the code begins.
inlined, loop = line_of('inlined'), line_of('loop')
prints(f'uprobe:{PROGRAM}@forms.c:{inlined}', 'first', 'second')
prints(f'uprobe:{PROGRAM}@attach/forms.c:{inlined}', 'first', 'second')
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
refused(f'uprobe:{PROGRAM}@forms.c:x', 'a line of a source file is')
printed, said = run(f'config = {{ missing_probes = "warn" }} uprobe:{PROGRAM}@forms.c:1, uprobe:{PROGRAM}:first '
                    f'{{ print(func); }}')
cases.check(printed == ['first'], 'missing_probes', printed, said)

# An IFUNC is probed where its implementations begin, not where its resolver does.
prints(f'uprobe:{PROGRAM}:chosen', '7', '8', '9', what='arg0')
prints(f'uretprobe:{PROGRAM}:chosen', '9', '10', '11', what='retval')
prints(f'uprobe:{PROGRAM}:chos*', *['chosen'] * 3)
prints(f'uprobe:{PROGRAM}:cpp:chosen', *['chosen'] * 3)
lists(f'uprobe:{PROGRAM}:chos*', wanted=[f'uprobe:{PROGRAM}:chosen'])

# One of several patterns may match nothing; a name, and all patterns together, must match.
printed, said = run(f'uprobe:{PROGRAM}:nosuch*, uprobe:{PROGRAM}:first {{ print(func); }}')
cases.check(printed == ['first'] and 'warning' in said and 'has no function nosuch*' in said, 'a pattern that matches nothing',
            printed, said)
refused(f'uprobe:{PROGRAM}:nosuch*, uprobe:{PROGRAM}:neither*', 'has no function nosuch*')
refused(f'uprobe:{PROGRAM}:nosuch, uprobe:{PROGRAM}:first', 'has no function nosuch')
printed, said = run(f'config = {{ missing_probes = "ignore" }} uprobe:{PROGRAM}:nosuch*, uprobe:{PROGRAM}:first '
                    f'{{ print(func); }}')
cases.check(printed == ['first'] and 'nosuch' not in said, 'a pattern that matches nothing, ignored', printed, said)
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

# Addresses and offsets must be in a function.
prints(f'uprobe:{PROGRAM}:first+0', 'first')
first = next(int(line.split()[0], 16) for line in subprocess.run(['nm', PROGRAM], capture_output=True, text=True)
             .stdout.splitlines() if line.endswith(' first')) if shutil.which('nm') else 0
if first:
    prints(f'uprobe:{PROGRAM}:{first:#x}', 'first')
    prints(f'uprobe:{PROGRAM}:{first}', f'uprobe:{PROGRAM}:{first}', what='probe')
refused(f'uprobe:{PROGRAM}:0x7fffffffffff', "0x7fffffffffff is no address of", 'code')
prints(f'uprobe:{PROGRAM}:wide+{10 if os.uname().machine == "x86_64" else 4}', 'wide')
refused(f'uprobe:{PROGRAM}:wide+1', 'no instruction begins at wide+1', 'one begins 1 byte before')
refused(f'uprobe:{PROGRAM}:wide+3', 'no instruction begins at wide+3', 'one begins 3 bytes before')
lists(f'uprobe:{PROGRAM}:wide+1', wanted=[f'uprobe:{PROGRAM}:wide+1'])
refused(f'uretprobe:{PROGRAM}:first+0', 'a return probe takes no offset')
refused(f'uretprobe:{PROGRAM}@forms.c:{inlined}', 'a return probe takes no line')
refused(f'uprobe:{PROGRAM}@forms.c', 'a line of a source file is')
refused(f'uprobe:{PROGRAM}@:{inlined}', 'a line of a source file is')
refused(f'uprobe:{PROGRAM}@forms.c:{inlined}:x', 'a line of a source file is')
refused(f'uprobe:{PROGRAM}:', 'the function is missing')
refused(f'uprobe:{PROGRAM}:first+99999', '+99999 is outside of the function first')

# Without a file, the probe is in the traced program; * stands for all files that it loads.
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

# A library that is stored in an archive, at a page, which Android's linker maps. CALL maps it, too, and calls
# answer() in it. It loads LIBRARY to find the function's place in the file.
CALL = """
import ctypes, mmap, sys
archive, start, library = sys.argv[1], int(sys.argv[2]), ctypes.CDLL(sys.argv[3])
at = ctypes.cast(library.answer, ctypes.c_void_p).value
for line in open('/proc/self/maps'):
    low, high = (int(x, 16) for x in line.split()[0].split('-'))
    if low <= at < high:
        offset = int(line.split()[2], 16)
        break
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
with open(archive, 'rb') as f:
    mapped = libc.mmap(None, high - low, 5, mmap.MAP_PRIVATE, f.fileno(), start + offset)
ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(mapped + at - low)(41)
"""
with tempfile.TemporaryDirectory() as dir:
    archive = f'{dir}/a.apk'
    page = os.sysconf('SC_PAGESIZE')
    with zipfile.ZipFile(archive, 'w') as z:
        z.writestr('first', b'x' * 100)
        stored = zipfile.ZipInfo('lib/x.so')
        head = z.fp.tell() + 30 + len(stored.filename)
        stored.extra = b'\0' * (-head % page)
        z.writestr(stored, pathlib.Path(LIBRARY).read_bytes())
        start = stored.header_offset + 30 + len(stored.filename) + len(stored.extra)
        z.write(LIBRARY, 'lib/packed.so', zipfile.ZIP_DEFLATED)
    member = f'{archive}!/lib/x.so'
    pathlib.Path(f'{dir}/call.py').write_text(CALL)
    for script, wanted in ((f'uprobe:{member}:answer {{ print(arg0); }}', ['41']),
                           (f'uprobe:"{member}":ans* {{ print(probe); }}', [f'uprobe:{member}:answer']),
                           (f'uretprobe:{member}:answer {{ print(retval); }}', ['42']),
                           (f'usdt:{member}:member:asked {{ print(arg0); }}', ['41'])):
        done = subprocess.run([STRATA, '-q', '-e', script, '-c', f'python3 {dir}/call.py {archive} {start} {LIBRARY}'],
                              capture_output=True, text=True)
        cases.check([line for line in done.stdout.splitlines() if line] == wanted, script.replace(dir, ''), done)
    lists(f'uprobe:{member}:answ*', wanted=[f'uprobe:{member}:answer'])
    lists(f'usdt:{member}:*', wanted=[f'usdt:{member}:member:asked'])
    refused(f'uprobe:{archive}!/lib/packed.so:answer', 'it is compressed in the archive')
    refused(f'uprobe:{archive}!/lib/y.so:answer', 'cannot read', 'lib/y.so')
    refused(f'uprobe:{dir}/no.apk!/lib/x.so:answer', 'there is no program or library')
sys.exit(cases.done())
