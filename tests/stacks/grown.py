#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grown.py STRATA GROWN - a process gets a language after the probes were attached: strata then loads that language, and
each stack has the language's frames, or a mark."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import waits
from absent import as_root
from tap import Cases

STRATA, GROWN = sys.argv[1:]
SCRIPT = 'config = { max_map_keys = 16384 } profile:hz:999 { @[ustack] = count(); }'
PYTHON = '''
def leaf(n): return sum(i * n for i in range(200))
def deep(n): return leaf(n) if n == 0 else deep(n - 1)
while True: deep(20)
'''
NODE = '''
function leaf(n) { let s = 0; for (let i = 0; i < 1000; i++) s += i * n; return s; }
function deep(n) { return n === 0 ? leaf(n) : deep(n - 1) + 1; }
for (;;) deep(20);
'''
CPU_SECONDS = 1.5  # of the traced process, with its language
cases = Cases()


def libpython():
    """Returns the path of a shared libpython and the directory of its modules, or None."""
    path = pathlib.Path(sysconfig.get_config_var('LIBDIR') or '/', sysconfig.get_config_var('INSTSONAME') or '-')
    return (str(path), sys.base_prefix) if path.suffix != '.a' and path.exists() else None


class Tracer:
    """strata -v of one process, whose standard error is read while it runs."""

    def __init__(self, pid, where):
        self.lines = []
        self.out = pathlib.Path(where, 'stacks')
        with open(self.out, 'w', encoding='utf-8') as out:
            self.process = subprocess.Popen([STRATA, '-v', '-p', str(pid), '-e', SCRIPT], stdout=out,
                                            stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        waits.until(lambda: self.says('Attached '), 'the probes to be attached', 60)

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip())

    def says(self, text):
        return [line for line in self.lines if text in line]

    def stop(self):
        self.process.send_signal(2)
        self.process.wait(120)
        return self.out.read_text()


def stacks(out):
    """Returns the stacks as lists of lines, innermost first, with their counts."""
    for text, n in re.findall(r'^@\[\n(.*?)^\]: (\d+)', out, re.M | re.S):
        yield [line.strip() for line in text.splitlines() if line.strip()], int(n)


def grow(command, language, env=None):
    """Traces the process before and after it gets the language. Returns the stacks, and what strata said."""
    with tempfile.TemporaryDirectory() as where, \
            subprocess.Popen([GROWN, *command], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as grown:
        try:
            tracer = Tracer(grown.pid, where)
            loaded = tracer.says('languages loaded')
            cases.check(loaded and ': none ' in loaded[-1], f'{language}: no language at the start', loaded)
            grown.stdin.write(b'\n')
            grown.stdin.flush()
            has = waits.comes(lambda: any(language in line for line in tracer.says('languages loaded')))
            cases.check(has, f'{language}: it is loaded when the process has it', tracer.lines)
            end = waits.cpu_time(grown.pid) + CPU_SECONDS
            waits.until(lambda: waits.cpu_time(grown.pid) > end, 'the process to run')
            return list(stacks(tracer.stop())), tracer.lines
        finally:
            grown.kill()


def check(language, found, said, is_run, has_frames):
    """is_run(lines): the stack is of code that runs the language; has_frames(lines): it has the language's frames."""
    counts = {'whole': 0, 'marked': 0, 'wrong': 0}
    wrong = []
    for lines, n in found:
        if not is_run(lines):
            continue
        kind = 'marked' if lines[-1].startswith('[') else 'whole' if has_frames(lines) else 'wrong'
        counts[kind] += n
        if kind == 'wrong':
            wrong.append(lines)
    print('#', language, counts)
    cases.check(not counts['wrong'], f'{language}: no stack lacks its frames without a mark', wrong[:3])
    cases.check(counts['whole'] > 2 * counts['marked'], f'{language}: most are whole', said)


def python():
    found = libpython()
    if not found:
        cases.skip('python', 'there is no shared libpython')
        return
    path, home = found
    found, said = grow(['load', path, PYTHON], 'python', {**os.environ, 'PYTHONHOME': home})
    check('python', found, said, lambda lines: any('PyRun_SimpleString' in line for line in lines),
          lambda lines: any(re.match(r'(deep|leaf|<module>|leaf\.<locals>)', line) for line in lines))


def node():
    program = shutil.which('node')
    if not program:
        cases.skip('node', 'there is no node')
        return
    found, said = grow(['exec', program, '-e', NODE], 'v8')
    check('v8', found, said, lambda lines: any('[eval]' in line or '[v8]' in line for line in lines),
          lambda lines: any('[eval]' in line for line in lines))


def main():
    python()
    node()
    return cases.done()


sys.exit(as_root(main))
