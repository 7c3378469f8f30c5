#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grown.py STRATA GROWN - a process gets a language after the probes were attached: strata then loads that language.
Each stack has the language's frames, or a mark, even if the language cannot be loaded."""
import os
import pathlib
import re
import resource
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
ROOM = 16  # descriptors: an object of stacks has more than 30 maps
CPU_SECONDS = 1.5 * waits.SLOW  # of the traced process, with its language
cases = Cases()


def libpython():
    """Returns the path of a shared libpython and the directory of its modules, or None."""
    path = pathlib.Path(sysconfig.get_config_var('LIBDIR') or '/', sysconfig.get_config_var('INSTSONAME') or '-')
    return (str(path), sys.base_prefix) if path.suffix != '.a' and path.exists() else None


class Tracer:
    """strata -v of one process, or of all (None), whose standard error is read while it runs."""

    def __init__(self, pid, where, script=SCRIPT):
        self.lines = []
        self.out = pathlib.Path(where, 'stacks')
        with open(self.out, 'w', encoding='utf-8') as out:
            self.process = subprocess.Popen([STRATA, '-v', *(['-p', str(pid)] if pid else []), '-e', script],
                                            stdout=out, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        waits.until(lambda: self.says('Attached '), 'the probes to be attached', 60)

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip())

    def says(self, text):
        return [line for line in self.lines if text in line]

    def keep_from_loading(self):
        """Leaves room for some files that a process maps, not for the descriptors of an object's maps."""
        used = [int(fd) for fd in os.listdir(f'/proc/{self.process.pid}/fd')]
        most = max(used) + 1 + ROOM - (max(used) + 1 - len(used))
        resource.prlimit(self.process.pid, resource.RLIMIT_NOFILE, (most, most))

    def stop(self):
        self.process.send_signal(2)
        self.process.wait(120)
        return self.out.read_text()


def stacks(out):
    """Returns the stacks as lists of lines, innermost first, with their counts."""
    for text, n in re.findall(r'^@\[\n(.*?)^\]: (\d+)', out, re.M | re.S):
        yield [line.strip() for line in text.splitlines() if line.strip()], int(n)


def grow(command, language, env=None, may_load=True):
    """Traces the process before and after it gets the language. Returns the stacks, and what strata said."""
    with tempfile.TemporaryDirectory() as where, \
            subprocess.Popen([GROWN, *command], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env) as grown:
        try:
            tracer = Tracer(grown.pid, where)
            loaded = tracer.says('languages loaded')
            cases.check(loaded and ': none ' in loaded[-1], f'{language}: no language at the start', loaded)
            if not may_load:
                tracer.keep_from_loading()
            grown.stdin.write(b'\n')
            grown.stdin.flush()
            if may_load:
                has = waits.comes(lambda: any(language in line for line in tracer.says('languages loaded')))
                cases.check(has, f'{language}: it is loaded when the process has it', tracer.lines)
            else:
                has = waits.comes(lambda: tracer.says('warning: stacks lack the frames of languages'))
                cases.check(len(has) == 1, f'{language}: strata says that it cannot be loaded', tracer.lines)
            end = waits.cpu_time(grown.pid) + CPU_SECONDS
            waits.until(lambda: waits.cpu_time(grown.pid) > end, 'the process to run', 60)
            return list(stacks(tracer.stop())), tracer.lines
        finally:
            grown.kill()


def count(found, native, own):
    """Returns the numbers of stacks by kind, and those that lack frames without a mark. native: a native frame that
    stands for a frame of the language; own: a frame of the language."""
    counts, wrong = {'whole': 0, 'marked': 0, 'wrong': 0}, []
    for lines, n in found:
        has_own = any(re.match(own, line) for line in lines)
        if not has_own and not any(re.match(native, line) for line in lines):
            continue
        # At the edge of a call a loop of the interpreter has no frame of the language yet, but the others have.
        kind = 'marked' if lines[-1].startswith('[') else 'whole' if has_own else 'wrong'
        counts[kind] += n
        if kind == 'wrong':
            wrong.append(lines)
    return counts, wrong


def check(language, found, said, native, own):
    counts, wrong = count(found, native, own)
    print('#', language, counts)
    cases.check(not wrong, f'{language}: no stack lacks its frames without a mark', wrong[:3])
    cases.check(counts['whole'] > 2 * counts['marked'], f'{language}: most are whole', said)


def python():
    found = libpython()
    if not found:
        cases.skip('python', 'there is no shared libpython')
        return
    path, home = found
    command, env = ['load', path, PYTHON], {**os.environ, 'PYTHONHOME': home}
    native, own = '_PyEval_EvalFrameDefault', r'.* <(string|frozen [\w.]+)>'
    found, said = grow(command, 'python', env)
    check('python', found, said, native, own)
    found, said = grow(command, 'python', env, may_load=False)
    counts, wrong = count(found, native, own)
    cases.check(counts['marked'] > 100 and not counts['whole'] and not wrong, f'python: all are marked: {counts}', said,
                wrong[:3])


def node():
    program = shutil.which('node')
    if not program:
        cases.skip('node', 'there is no node')
        return
    found, said = grow(['exec', program, '-e', NODE], 'v8')
    check('v8', found, said, r'\[v8\]', r'.*\[eval\]')


def asleep():
    """The programs are loaded once, with the languages of processes that sleep meanwhile."""
    with tempfile.TemporaryDirectory() as where, \
            subprocess.Popen(['/usr/bin/python3', '-c', 'input()'], stdin=subprocess.PIPE) as sleeps:
        try:
            waits.asleep(sleeps.pid)
            tracer = Tracer(None, where)
            loaded = tracer.says('languages loaded')
            tracer.stop()
            cases.check(loaded and 'python' in loaded[0], 'python: the first programs have it', loaded)
        finally:
            sleeps.kill()


def begins():
    """A Java program that has not mapped libjvm yet: its first stacks have its language."""
    with tempfile.TemporaryDirectory() as where:
        java = shutil.copy(GROWN, pathlib.Path(where, 'java'))
        for program, script, what in ((java, SCRIPT, 'a program of its name'),
                                      (GROWN, SCRIPT.replace('ustack', 'javastack'), 'a script that wants only it')):
            with subprocess.Popen([program, 'exec', '/bin/true'], stdin=subprocess.PIPE) as begins_now:
                tracer = Tracer(begins_now.pid, where, script)
                loaded = tracer.says('languages loaded')
                tracer.stop()
                cases.check(len(loaded) == 1 and 'hotspot' in loaded[0], f'java: loaded at once for {what}', loaded)
                begins_now.kill()


def main():
    asleep()
    begins()
    python()
    node()
    return cases.done()


sys.exit(as_root(main))
