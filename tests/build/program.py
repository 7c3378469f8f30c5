#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""program - a program of strata build: its size, its libraries, its options, and what is refused.

    program.py STRATA"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
import tap

STRATA = os.path.abspath(sys.argv[1])
MOST = 6 << 20  # bytes
SCRIPT = ('begin { printf("%d %s\\n", $1, comm); } tracepoint:syscalls:sys_enter_o* /pid == cpid/ '
          '{ @[probe] = count(); @same[curtask->real_parent->tgid == ppid, cpid > 0] = count(); } interval:s:5 { exit(); }')
cases = tap.Cases()
tree = tempfile.TemporaryDirectory()
dir = pathlib.Path(tree.name)
tool = dir / 'tool'


def run(*words):
    done = subprocess.run([str(w) for w in words], cwd=dir, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def build(script, *more):
    return run(STRATA, 'build', '-o', tool, *more, '-e', script)


def refused(script, where, *words):
    tool.unlink(missing_ok=True)
    code, out, err = build(script)
    cases.check(code == 1 and where in err and all(w in err for w in words) and not tool.exists(),
                f'refused: {script}', code, out, err)


made = run(STRATA, 'build', '-o', tool, '-e', SCRIPT, '42')
cases.check(made == (0, '', ''), 'a program is built, and nothing is printed', made)
size = tool.stat().st_size
cases.check(size <= MOST, f'it has at most {MOST} bytes: {size}')
libraries = run('ldd', tool)[1]
cases.check('libc.so' in libraries and 'LLVM' not in libraries and 'clang' not in libraries, 'it needs no LLVM', libraries)
code, out, err = run(tool, '-q', '-c', 'cat /dev/null')
cases.check(code == 0 and out.startswith('42 tool\n') and '@[tracepoint:syscalls:sys_enter_openat]: ' in out and
            '@same[true, true]: ' in out, 'it runs a command; parameters are a part of it', code, out, err)
code, out, err = run(tool, '-q', '-d', '100ms', '-f', 'json', '-o', 'out.json')
cases.check(code == 0 and not out and '"42 tool' in (dir / 'out.json').read_text(), '-d, -f and -o', code, out, err)
code, out, err = run(tool, '--help')
cases.check(code == 0 and '--dry-run' in out and 'strata build' in out, '--help', code, out, err)
code, out, err = run(tool, '7')
cases.check(code == 1 and 'were given to strata build' in err, 'it takes no parameters', code, out, err)
code, out, err = run(tool, '-p', 'x')
cases.check(code == 1 and '-p takes process ids' in err, 'a wrong process id', code, out, err)

for options, text in ((('--wrong',), 'unknown option: --wrong'), (('-qx',), 'unknown option: -x'),
                      (('-d',), '-d needs a value'), (('--help=3',), 'unknown option: --help=3')):
    code, out, err = run(tool, *options)
    cases.check((code, out, err) == (1, '', f'error: {text}\nhint: --help lists the options of this program\n'), text,
                code, out, err)

data = tool.read_bytes()
for name, change in (('a byte of the image', data[:-5000] + bytes([data[-5000] ^ 1]) + data[-4999:]),
                     ('the size at its end', data[:-24] + b'\xff' * 8 + data[-16:])):
    tool.write_bytes(change)
    code, out, err = run(tool)
    cases.check(code == 1 and 'is damaged' in err and not out, f'{name} is changed', code, out, err)
for name, change in (('a byte is added', data + b'x'), ('30 bytes are cut off', data[:-30]),
                     ('the end is cut off', data[:-24])):
    tool.write_bytes(change)
    code, out, err = run(tool)
    cases.check((code, out, err) == (1, '', f'error: {tool} is damaged\n'), name, code, out, err)
alone = pathlib.Path(STRATA).with_name('strata-run')
code, out, err = run(alone)
cases.check(code == 1 and f'{alone} has no script' in err, 'strata-run alone', code, out, err)

refused('begin { printf("%p", kaddr("_text")); exit(); }', '-e:1:', 'addresses of the kernel')
refused('uprobe:libc:exit { print(uaddr("_libc_intl_domainname")); }', '-e:1:', 'addresses of a file')
refused('#include <linux/types.h>\nbegin { exit(); }', 'cannot leave the machine', 'headers')
for options in (('-p', '1'), ('-c', 'true'), ('-k',), ('--user', 'root'), ('--hide', 'libc'), ('--only', 'libc'),
                ('-B', 'full'), ('--no-feature', 'uprobe_multi')):
    tool.unlink(missing_ok=True)
    code, out, err = build('begin { exit(); }', *options)
    cases.check(code == 1 and f'strata build takes no {options[0]}' in err and not tool.exists(), f'{options[0]} is not for the build', err)
code, out, err = run(STRATA, 'build', '-e', 'begin { exit(); }')
cases.check(code == 1 and '-o NAME' in err, 'the name is needed', code, out, err)
sys.exit(cases.done())
