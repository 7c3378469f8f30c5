#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools.py STRATA LEAKY - each tool by name on a program that keeps its own account, which must agree. LEAKY: the
library of leaky.c. Prints TAP."""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / 'lib'), str(HERE.parent / 'unwind' / 'go')]
import tap
import toolchains
import waits
from absent import as_root

STRATA, LEAKY = (os.path.realpath(arg) for arg in sys.argv[1:3])
PYTHON = '/usr/bin/python3'


class Run:
    """A tool next to a program that begins after a line on its standard input."""
    def __init__(self, tool, command, *args, format='json'):
        traced = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        waits.reading(traced.pid)
        with tempfile.TemporaryFile('w+') as said, tempfile.TemporaryFile('w+') as out:
            tracer = subprocess.Popen([STRATA, *tool.split(), '-p', str(traced.pid), '-f', format, *args], stdout=out,
                                      stderr=said)
            try:
                waits.until(lambda: tracer.poll() is not None or 'ttached' in self.read(said) + self.read(out),
                            f'strata {tool} to attach')
                self.printed = traced.communicate('go\n', timeout=30)[0]
                tracer.wait(timeout=30)
            finally:
                traced.kill()
                tracer.kill()
            self.out, self.said = self.read(out), self.read(said)
        lines = [json.loads(line) for line in self.out.splitlines()] if format == 'json' else []
        self.maps = {name: line for line in lines if line['type'] in ('map', 'stats') for name in line['data']}
        self.text = ''.join(line['data'] for line in lines if line['type'] == 'printf')

    @staticmethod
    def read(file):
        file.seek(0)
        return file.read()

    def entries(self, name):
        """Returns the (key, value) pairs of a map."""
        return [(e['key'], e['value']) for e in self.maps.get(name, {}).get('entries', [])]

    def data(self, name):
        return self.maps.get(name, {'data': {name: {}}})['data'][name]

    def total(self, name, function, part=-1, where=''):
        """Returns the sum over the stacks that have a function, at a line of a file if that is given."""
        def has(stack):
            return any(function in f.get('function', '') and where in f'{f.get("file", "")}:{f.get("line", "")}'
                       for f in stack['frames'])
        return sum(value['total'] if isinstance(value, dict) else value for key, value in self.entries(name) if has(key[part]))

    def __str__(self):
        return f'{self.printed}\n{self.said}\n{self.out}'


def near(a, b, part=0.1):
    return b and abs(a - b) <= part * b


def line_of(file, text):
    lines = (HERE / file).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


# ---- waiting ---------------------------------------------------------------------------------------------------

def check_switches(cases, run, *checks):
    """Each check takes the result of run(), and returns whether it agrees, and a text. A virtual machine may hide the process
    that controls it from tracers: then a tracer misses the switch of a thread that takes over its CPU, for one wait in
    thousands. So the first of three runs that agrees counts."""
    for _ in range(3):
        done = run()
        results = [check(done) for check in checks]
        if all(agrees for agrees, _ in results):
            break
    for agrees, text in results:
        cases.check(agrees, text, done)


def slow_query(cases):
    def waits_in_line(run):
        own = int(run.printed or 0)
        waited = run.total('@waited_us', 'slow_query', where=f'web.py:{line}')
        return near(waited, own), (f'offcpu: the line of a Flask application that waits for its query: {waited} us, by its '
                                   f'own clock {own}')

    def waits(run):
        return near(run.total('@waited_us', 'slow_query', part=1), int(run.printed or 0)), 'offcpu --wakers: the same wait'

    line = line_of('web.py', '# waits here')
    check_switches(cases, lambda: Run('offcpu', [PYTHON, HERE / 'web.py']), waits_in_line)
    check_switches(cases, lambda: Run('offcpu', [PYTHON, HERE / 'web.py'], '--wakers', '--min', '100000'), waits)


def interrupts(cases):
    """A timer ends a wait while another program runs on the CPU: that one is not the waker."""
    busy = subprocess.Popen(['taskset', '-c', '0', 'sh', '-c', 'while :; do :; done'])
    sleeper = ['taskset', '-c', '0', PYTHON, '-c', 'input(); import time; [time.sleep(0.005) for _ in range(200)]']
    try:
        for tool, args, name, part in ('offcpu', ['--wakers'], '@waited_us', 2), ('wakeups', ['--idle'], '@woken', 1):
            run = Run(tool, sleeper, *args)
            by = {}
            for key, value in run.entries(name):
                by[key[part], bool(key[part + 1]['frames'])] = by.get((key[part], bool(key[part + 1]['frames'])), 0) + value
            mine = by.get(('[interrupt]', False), 0)
            cases.check(mine and mine >= 0.95 * sum(by.values()) and not by.keys() - {('[interrupt]', False), ('python3', True)},
                        f'{tool}: timers wake, not who runs', by, run)
    finally:
        busy.kill()
        busy.wait()


def go_mutex(cases):
    program = toolchains.program('tools-mutex', '1.27', [HERE / 'mutex.go'], 'amd64')
    run = Run('locks', [program, 'wait'])
    own = int(run.printed or 0)
    waited, held = run.total('@waited_us', 'main.transfer'), run.total('@held_us', 'main.transfer')
    named = [key for key, _ in run.entries('@waited_us') if 'main.account' in json.dumps(key[1])]
    cases.check(near(waited, own), f'locks: goroutines wait for a mutex: {waited} us, by their own clocks {own}', run)
    cases.check(600000 < held < own and named, f'locks: who held it, and its name: {held} us', run)


def mutex(cases):
    run = Run('locks', [PYTHON, HERE / 'threads.py', 'locks'])
    own = json.loads(run.printed or '{}').get('waited_us', 0)
    waited, held = run.total('@waited_us', 'want_lock'), run.total('@held_us', 'hold_lock')
    cases.check(near(waited, own), f'locks: a mutex of C, called from Python: {waited} us, by its own clock {own}', run)
    cases.check(near(held, own), f'locks: the function that let it go: {held} us', run)


def gil(cases):
    run = Run('locks', [PYTHON, HERE / 'threads.py', 'gil'])
    wall = json.loads(run.printed or '{}').get('wall_us', 0)
    waited, held = (sum(value for key, value in run.entries(name) if '_PyRuntime' in json.dumps(key[1]) and
                        any(f.get('function') == 'spin' for f in key[2]['frames'])) for name in ('@waited_us', '@held_us'))
    cases.check(near(waited, wall, 0.5), f"locks: two threads that compute wait for the GIL: {waited} us of {wall}", run)
    cases.check(0.3 * wall < held < 2 * wall, f'locks: the function that held the GIL: {held} us', run)


def threads(cases):
    def time_of(run, name, thread):
        return {key[1]: value for key, value in run.entries(name)}.get(thread, 0)

    def computes(run):
        us = time_of(run, '@on_cpu_us', json.loads(run.printed or '{}').get('spun', [0])[0])
        return near(us, 300000, 0.2), f'threads: one computes: {us} us of 300000'

    def sleeps(run):
        us = time_of(run, '@asleep_us', json.loads(run.printed or '{}').get('rested'))
        return near(us, 500000), f'threads: one sleeps: {us} us of 500000'

    check_switches(cases, lambda: Run('threads', [PYTHON, HERE / 'threads.py', 'mixed']), computes, sleeps)
    run = Run('wakeups', [PYTHON, HERE / 'threads.py', 'locks'])
    cases.check(run.total('@woken', 'hold_lock', part=2) >= 1, 'wakeups: who let the lock go wakes', run)


# ---- memory ----------------------------------------------------------------------------------------------------

def leak(cases):
    run = Run('leak', [PYTHON, HERE / 'leaky.py', LEAKY])
    own = int(run.printed or 0)
    cases.check(run.total('@leaked_bytes', 'remember') == own, f'leak: C that Python calls leaks {own} bytes', run)
    lines = {f.get('line') for key, _ in run.entries('@leaked_bytes') for f in key[1]['frames']
             if f.get('function') == 'handle'}
    cases.check(lines == {line_of('leaky.py', 'library.remember')}, 'leak: the line of Python that calls it', lines, run)
    cases.check(run.total('@leaked_bytes', 'forget') == 0, 'leak: freed memory does not count', run)
    run = Run('alloc', [PYTHON, HERE / 'leaky.py', LEAKY])
    seen = [run.total('@bytes', name) for name in ('remember', 'forget')]
    cases.check(seen == [own, 3 * own], f'alloc: freed memory counts, too: {seen}', run)


def objects(cases):
    """Needs a Python with the name of its pools' function; tracemalloc is the witness."""
    exe = os.path.realpath(sys.executable)
    files = [exe, *re.findall(r'=> (\S*libpython\S*)', subprocess.run(['ldd', exe], capture_output=True, text=True).stdout)]
    if not any('_PyObject_Malloc' in subprocess.run(['nm', f], capture_output=True, text=True).stdout for f in files):
        cases.check(True, f'alloc: objects of Python # SKIP {exe} is stripped')
        return
    own = int(subprocess.run([exe, HERE / 'objects.py', 'account'], input='go\n', capture_output=True, text=True).stdout)
    run = Run('alloc', [exe, HERE / 'objects.py'])
    seen = sum(value for key, value in run.entries('@bytes') if any(f.get('function') == 'make' for f in key[1]['frames'])
               and 'Py' in key[1]['frames'][0].get('function', ''))
    cases.check(near(seen, own, 0.02), f'alloc: objects of Python: {seen} bytes, by tracemalloc {own}', run)


# ---- calls -----------------------------------------------------------------------------------------------------

def node_fsync(cases):
    node = shutil.which('node')
    if not node:
        cases.check('CI' not in os.environ, 'io: node is not here # SKIP')
        return
    with tempfile.NamedTemporaryFile(dir=HERE) as log:
        run = Run('io', [node, HERE / 'disk.js', log.name], '--stacks')
    calls, own = (int(n) for n in (run.printed or '0 0').split())
    seen = {key[1]: value for key, value in run.entries('@calls')}.get('fsync', 0)
    spent = run.total('@stack_us', 'keep', where='disk.js')
    cases.check(calls == 20 == seen, f'io: a server in node calls fsync: {seen} of {calls} times', run)
    cases.check(0.5 * own < spent <= own, f'io: the function that does: {spent} us, by its own clock {own}', run)


def moves(cases):
    run = Run('io', [PYTHON, HERE / 'calls.py', 'moves'])
    own = json.loads(run.printed or '{}')
    calls, us, size = ({tuple(key): value for key, value in run.entries(name)} for name in ('@calls', '@us', '@bytes'))
    cases.check(calls.get(('python3', 'fdatasync')) == 7, 'io: calls of fdatasync', run)
    cases.check(size.get(('python3', 'write'), 0) >= 7 * 5000 + 1000, 'io: bytes that were written', run)
    spent = us.get(('python3', 'read'), 0)
    cases.check(near(spent, own.get('read_us')), f'io: a pipe that is waited for: {spent} us', run)


def connects(cases):
    run = Run('connect', [PYTHON, HERE / 'calls.py', 'connects'])
    own = json.loads(run.printed or '{}')
    rows = [line.split(None, 6) for line in run.text.splitlines()[1:]]
    seen = [(row[3], row[4], row[6]) for row in rows if len(row) == 7]
    wanted = [('127.0.0.1', str(own.get('port')), 'Success')]
    if 'port6' in own:
        wanted.append(('::1', str(own['port6']), 'Success'))
    wanted += [('127.0.0.1', str(own.get('port')), 'Connection refused'), (own.get('unix'), 'unix', 'Success')]
    cases.check(seen == wanted, 'connect: a line for each', seen, run)


def execs(cases):
    run = Run('exec', [PYTHON, HERE / 'calls.py', 'runs'], format='json')
    done = subprocess.run([STRATA, 'exec', '-f', 'json', '-c', f'{PYTHON} {HERE / "calls.py"} runs'], input='go\n',
                          capture_output=True, text=True)
    text = ''.join(json.loads(line)['data'] for line in done.stdout.splitlines() if '"printf"' in line)
    rows = [line.split(None, 4)[3:] for line in text.splitlines()[1:]]
    cases.check(['python3', '/bin/echo one two three'] in [[by, what.strip()] for by, what in rows],
                'exec: a program of the command, with its arguments', text, run)
    cases.check(['python3', '/no/such/program: No such file or directory'] in rows, 'exec: a missing program', text)


# ---- dump ------------------------------------------------------------------------------------------------------

def dump(cases):
    standing = subprocess.Popen([PYTHON, HERE / 'threads.py', 'stand'], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
    standing.stdin.write('go\n')
    standing.stdin.flush()
    own = ''
    while 'pid' not in own:
        own += standing.stderr.readline()
    waits.asleep(standing.pid)
    done = subprocess.run([STRATA, 'dump', '-p', str(standing.pid), '-p', str(os.getpid())], capture_output=True, text=True)
    both = subprocess.run([STRATA, 'dump', '-p', str(standing.pid), '-f', 'json'], capture_output=True, text=True)
    standing.kill()
    standing.wait()
    # faulthandler's frames have bare names; the thread that called it has continued to its sleep.
    own = re.sub(r'line \d+ in stand', f'line {line_of("threads.py", "time.sleep(60)")} in stand', own)
    wanted = [[f'{name} {file}:{line}' for file, line, name in re.findall(r'File "(.*)", line (\d+) in (\S+)', part)]
              for part in re.split(r'hread 0x\w+', own)[1:]]
    mine = done.stdout.split('\nProcess ')[0]
    seen = [[f'{name.rpartition(".")[2]} {where}' for name, where in re.findall(r'^ +(\S+) (\S+\.py:\d+)$', part, re.M)]
            for part in mine.split('\nThread ')[1:]]
    cases.check(len(wanted) == 3 and sorted(wanted) == sorted(seen), 'dump: the frames that faulthandler has', wanted, seen,
                done.stdout, done.stderr)
    cases.check(f'Process {os.getpid()}: ' in done.stdout and ') asleep in ' in mine, 'dump: several processes, and what '
                'they do', done.stdout, done.stderr)
    rows = [json.loads(line) for line in both.stdout.splitlines()]
    threads = [row['data'] for row in rows if row['type'] == 'thread']
    cases.check(len(rows[-1]['entries']) == 3 and len(rows) == 4 and {t['tid'] for t in threads} ==
                {e['key'][2] for e in rows[-1]['entries']}, 'dump -f json', both.stdout, both.stderr)
    cases.check(all(t['state'] == 'asleep' and t['syscall'] in ('clock_nanosleep', 'restart_syscall', 'futex') and
                    t['command'] == f'{PYTHON} {HERE / "threads.py"} stand' for t in threads),
                'dump -f json: state, system call and command line', both.stdout)


# ---- a person waits --------------------------------------------------------------------------------------------

def on_terminal(*args):
    """Returns the output of strata on a terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.execv(STRATA, [STRATA, *args])
    text = b''
    try:
        while more := os.read(terminal, 4096):
            text += more
    except OSError:  # it has ended
        pass
    os.waitpid(pid, 0)
    return text.decode(errors='replace')


def progress(cases):
    line = r'\r\x1b\[K1 of 2 s  (\d+) samples  0 lost  \d+ incomplete stacks'
    text = on_terminal('cpu', '--hz=199', '-d', '2', '-c', f'{PYTHON} -c "while True: pass"')
    found = re.search(line, text)
    cases.check(found and 0 < int(found.group(1)) < 800, 'a terminal shows progress', text)
    cases.check(re.search(r'\r\x1b\[K\r\n.*@cpu\[', text, re.S), 'and does not keep it at the end', text)
    text = on_terminal('exec', '-d', '1', '-c', '/bin/sleep 2')
    cases.check('events' not in text and '\x1b' not in text, 'not where lines are printed', text)
    done = subprocess.run([STRATA, 'cpu', '-d', '1.2', '-c', f'{PYTHON} -c "while True: pass"'], capture_output=True, text=True)
    cases.check(re.match('Attached . probes\n', done.stderr) and 'samples' not in done.stderr, 'not in a pipe', done.stderr)
    sleeper = subprocess.Popen(['/bin/sleep', '60'])
    waits.asleep(sleeper.pid)
    done = subprocess.run([STRATA, 'cpu', '-d', '0.5', '-p', str(sleeper.pid)], capture_output=True, text=True)
    sleeper.kill()
    sleeper.wait()
    cases.check(re.search(r'was asleep for all \d\.\d s', done.stderr) and f'strata dump -p {sleeper.pid}' in done.stderr,
                'the reason for no samples: it slept', done.stderr)
    for words in (['-d', '500ms'], ['--duration', '0.5']):
        begun = time.monotonic()
        subprocess.run([STRATA, *words, '-q', '-e', 'interval:ms:100 { @ = count(); }'], capture_output=True)
        cases.check(0.5 < time.monotonic() - begun < 5, f'{words} ends a script')


# ---- all -------------------------------------------------------------------------------------------------------

def all_tools(cases):
    """Each tool is listed, has help and a printable script, loads, and ends after -d."""
    listed = subprocess.run([STRATA, 'tools'], capture_output=True, text=True).stdout
    scripts = sorted(path.stem for path in (HERE.parents[1] / 'tools').glob('*.bt'))
    cases.check(all(re.search(rf'^  {name} +\S', listed, re.M) for name in [*scripts, 'dump', 'record', 'top']),
                'strata tools lists all', listed)
    for name in scripts:
        text = subprocess.run([STRATA, '--print', name], capture_output=True, text=True).stdout
        helped = subprocess.run([STRATA, name, '--help'], capture_output=True, text=True).stdout
        begun = time.monotonic()
        done = subprocess.run([STRATA, name, '-d', '0.3', '-o', os.devnull], capture_output=True, text=True, timeout=60)
        cases.check(text == (HERE.parents[1] / 'tools' / f'{name}.bt').read_text() and helped.startswith(f'strata {name}: ')
                    and 'Options of ' in helped and done.returncode == 0 and time.monotonic() - begun < 30,
                    f'{name}: --print, --help, -d', helped, done.stderr)
        if name not in ('exec', 'connect'):
            continue
        done = subprocess.run([STRATA, name, '-f', 'folded', '-c', f'{PYTHON} {HERE / "calls.py"} {name}s'.replace('execs', 'runs')],
                              input='go\n', capture_output=True, text=True, timeout=60)
        cases.check(f';{name}s ' in done.stdout or ';runs ' in done.stdout, f'{name}: the format folded has the stacks', done.stdout,
                    done.stderr)
    done = subprocess.run([STRATA, 'cpu', '--hertz=9'], capture_output=True, text=True)
    cases.check(done.returncode == 1 and 'no option --hertz' in done.stderr, 'an unknown option', done.stderr)


def words(cases):
    done = subprocess.run([STRATA, 'ofcpu'], capture_output=True, text=True)
    cases.check(done.returncode == 1 and 'did you mean strata offcpu?' in done.stderr, 'a name similar to a tool', done.stderr)
    done = subprocess.run([STRATA, 'cpu', '1234'], capture_output=True, text=True)
    cases.check(done.returncode == 1 and 'did you mean -p 1234?' in done.stderr, 'a number is not a process', done.stderr)
    done = subprocess.run([STRATA, '--complete=cpu', '--', '--h'], capture_output=True, text=True)
    cases.check(done.stdout.startswith('--hz\tsamples per second') and '--help\t' in done.stdout and '--no-kernel' not in done.stdout,
                'TAB has the options of a tool', done.stdout)
    text = on_terminal('-q', '-e', 'begin { @a["x"] = 5; @a["much longer"] = 1234; @a["y"] = 10; exit(); }')
    cases.check('@a[x]:              5\r\n@a[y]:             10\r\n@a[much longer]: 1234\r\n' in text,
                'on a terminal numbers stand below one another', text)


def helps(cases):
    """--help NAME prints the entry of the language with that name."""
    for name, said in (('count', 'count'), ('uprobe', 'uprobe:PATH'), ('svg', '-f svg')):
        done = subprocess.run([STRATA, '--help', name], capture_output=True, text=True)
        cases.check(done.stdout.startswith(said) and not done.returncode, f'--help {name}', done)
    done = subprocess.run([STRATA, '--help', 'cuont'], capture_output=True, text=True)
    cases.check(done.returncode == 1 and 'called cuont' in done.stderr and 'did you mean count?' in done.stderr,
                '--help of no name', done)


def flame(cases):
    """A picture of a command; each of two functions has half of the time."""
    program = ('import time\ndef one():\n while time.thread_time() % 0.2 < 0.1: pass\n'
               'def two():\n while time.thread_time() % 0.2 >= 0.1: pass\n'
               'while time.thread_time() < 1.5: one(); two()')
    with tempfile.TemporaryDirectory() as directory:
        path, source = pathlib.Path(directory, 'cpu.svg'), pathlib.Path(directory, 'halves.py')
        source.write_text(program)
        done = subprocess.run([STRATA, 'cpu', '--hz=499', '-c', f'{PYTHON} {source}', '-o', path], capture_output=True, text=True)
        text = path.read_text()
        xml.fromstring(text)
        cases.check('>one ' in text and '>two ' in text, 'cpu -o cpu.svg: a flame graph', done.stderr, text[:2000])
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, 'halves.py')
        source.write_text(program)
        done = subprocess.run([STRATA, 'cpu', '--hz', '499', '--no-kernel', '-f', 'folded', '-c', f'{PYTHON} {source}'],
                              capture_output=True, text=True)
    parts = [sum(int(line.rpartition(' ')[2]) for line in done.stdout.splitlines() if f';{name} ' in line)
             for name in ('one', 'two')]
    cases.check(near(parts[0], parts[1], 0.25) and sum(parts) > 500, f'cpu: half of the time each: {parts}', done.stderr)


SLOWER = r'''
#include <stdio.h>
#include <time.h>
volatile long work;
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
__attribute__((noinline)) void spin(double seconds) { for (double end = cpu() + seconds; cpu() < end; ) work++; }
__attribute__((noinline)) void short_request(void) { spin(0.002); work++; }
__attribute__((noinline)) void long_request(void) { spin(0.15); work++; }
__attribute__((noinline)) void handle(int i) { i % 50 == 20 ? long_request() : short_request(); work++; }
int main(void) { for (int i = 0; i < 300; i++) handle(i); return 0; }
'''


def slower(cases):
    """6 of 300 requests take 150 ms of CPU, the others 2 ms."""
    with tempfile.TemporaryDirectory() as directory:
        program = pathlib.Path(directory, 'requests')
        subprocess.run(['cc', '-O1', '-x', 'c', '-', '-o', program], input=SLOWER, text=True, check=True)
        bounds = ['--from', f'uprobe:{program}:handle', '--until', f'uretprobe:{program}:handle']
        done = subprocess.run([STRATA, 'cpu', '--hz=499', '--no-kernel', '-f', 'folded', '--slower', '100ms', *bounds, '-c', program],
                              capture_output=True, text=True)
    stacks = [(frames, int(n)) for frames, _, n in (line.rpartition(' ') for line in done.stdout.splitlines()) if ';' in frames]
    long = sum(n for frames, n in stacks if ';long_request' in frames)
    # On a busy machine another request may take that long, too: it has few samples.
    rest = sum(n for frames, n in stacks) - long
    cases.check(near(long, 6 * 0.15 * 499, 0.2) and rest < long / 20, f'cpu --slower: {long} samples of slow requests, {rest} of others',
                done.stdout, done.stderr)
    done = subprocess.run([STRATA, 'cpu', '--slower', '100ms', '-d', '0.2'], capture_output=True, text=True)
    cases.check(done.returncode == 1 and '--slower needs --from PROBE' in done.stderr, 'cpu --slower without probes', done)


def main():
    cases = tap.Cases()
    wanted = sys.argv[3:]  # names of cases
    has_flask = not subprocess.run([PYTHON, '-c', 'import flask'], capture_output=True).returncode
    if wanted:
        pass
    elif has_flask or 'CI' in os.environ:
        slow_query(cases)
    else:
        cases.check(True, 'offcpu: a Flask application # SKIP python3-flask is not installed')
    for case in (interrupts, go_mutex, mutex, gil, threads, leak, objects, node_fsync, moves, connects, execs, dump,
                 progress, all_tools, words, helps, flame, slower):
        if not wanted or case.__name__ in wanted:
            case(cases)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(main))
