#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""answers.py STRATA - what a person reads first: keys without empty parts, hints below an answer. Prints TAP."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
EMPTY = re.compile(r'^, \n(?=\]|, )', re.M) # a separator, the newline of a stack, and no frame
SPIN = ['-c', "/usr/bin/python3 -c 'sum(range(20000000))'"]
# Its time is spread over many functions of C.
APP = r'''
import json, re, time, zlib

def handle(n):
    text = json.dumps({str(i): [i, {'x': str(i * n)}] for i in range(300)})
    return len(zlib.compress(re.sub(r'[0-9]+', lambda m: m[0][::-1], text).encode())) + len(json.loads(text))

end = time.monotonic() + 0.7
while time.monotonic() < end:
    handle(7)
'''
# Prints the pid of its worker when that has used some CPU.
MASTER = '''
import os, time
ends = os.pipe()
worker = os.fork()
if not worker:
    while time.process_time() < 0.2:
        pass
    os.write(ends[1], b'x')
    while True:
        pass
os.read(ends[0], 1)
print(worker, flush=True)
time.sleep(60)
'''


def run(*command, **options):
    options = {'input': '', **options}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, **options)


def on_terminal(*command):
    """Returns the output and the messages that strata writes to a terminal."""
    words = ' '.join("'" + str(word).replace("'", "'\\''") + "'" for word in command)
    return run('script', '-qec', words, '/dev/null').stdout.replace('\r', '')


def empty_parts(cases):
    """Stacks of user code have no kernel part; the script of a tool asks for it in any case."""
    script = 'profile:hz:499 /pid/ { @[comm, ustack, kstack] = count(); }'
    key = re.compile(r'^@.*\[python3, \n.*?^\]', re.M | re.S)
    with tempfile.TemporaryDirectory() as dir:
        tool = run(STRATA, 'cpu', '--hz', '499', *SPIN)
        shown = run(STRATA, 'cpu', '--hz', '499', *SPIN, '-o', f'{dir}/x.json') and run(STRATA, 'show', f'{dir}/x.json', '-f', 'text')
    terminal = on_terminal(STRATA, '-e', script, *SPIN)
    for name, out in ('a tool', tool.stdout), ('show', shown.stdout), ('a script at a terminal', terminal):
        cases.check(key.search(out) and not EMPTY.search(out), f'{name}: no empty part in a key', out[-3000:])
    plain = run(STRATA, '-e', script, *SPIN).stdout
    cases.check(EMPTY.search(plain), "a script's text has the empty part, as in bpftrace", plain[-3000:])


def own_code(cases):
    """A long answer ends with the options that shorten it; both work."""
    with tempfile.TemporaryDirectory() as dir:
        app = pathlib.Path(dir, 'app.py')
        app.write_text(APP)
        command = [STRATA, 'cpu', '--hz', '999', '-c', f'/usr/bin/python3 {app}']
        last = on_terminal(*command).splitlines()[-1]
        cases.check(re.fullmatch(rf"hint: \d+ stacks: --only '\*\.py' shows .* Python .*, --only '{dir}/\*' .*", last),
                    'the last line names --only', last)
        for only in '*.py', f'{dir}/*':
            out = on_terminal(*command, '--only', only)
            cases.check('handle ' in out and 'PyEval' not in out and 'stacks: --only' not in out, f'--only {only}',
                        re.findall('.*(?:PyEval|hint: ).*', out), out[-3000:])
        cases.check('--only' not in run(*command).stderr, 'no such hint for a pipe')


def names_of_files(cases):
    """-o - is stdout, in the tool's own format; a picture that strata cannot write is refused at once."""
    record = ['-f', 'json', '-e', 'begin { @ = 1; exit(); }']
    with tempfile.TemporaryDirectory() as dir:
        done = run(STRATA, *record, '-o', '-', cwd=dir)
        tool = run(STRATA, 'record', '-o', '-', '-c', 'true', cwd=dir)
        shown = run(STRATA, 'show', '-', '-f', 'text', '-o', '-', cwd=dir, input=tool.stdout)
        left = os.listdir(dir)
        cases.check('"@": 1' in done.stdout and tool.stdout.startswith('{"type"') and not shown.returncode and not left,
                    '-o - is stdout', done, tool, shown, left)
        for name in 'x.png', 'x.PDF', 'x.svgz':
            for command in (['cpu', '-c', 'touch ran'], ['show', 'none.json']):
                done = run(STRATA, *command, '-o', name, cwd=dir)
                cases.check(done.returncode == 1 and f'error: {name}: ' in done.stderr and '.svg, .html' in done.stderr
                            and not os.listdir(dir), f'{command[0]} -o {name}', done)
        done = run(STRATA, '-f', 'svg', '-e', 'profile:hz:99 { @[ustack] = count(); }', *SPIN, '-o', 'x.png', cwd=dir)
        text = run(STRATA, '-e', 'begin { print(7); exit(); }', '-o', 'x.txt', cwd=dir)
        cases.check(not done.returncode and not text.returncode and pathlib.Path(dir, 'x.txt').read_text().startswith('7\n')
                    and '<svg' in pathlib.Path(dir, 'x.png').read_text(), '-f svg -o x.png, -o x.txt', done, text)


def words(cases):
    """help and list are what they sound like, and a script needs no -e."""
    for words, option in ('help', ['--help']), ('help ustack', ['--help', 'ustack']), ('help hist', ['--help', 'hist']), \
            ('help cpu', ['cpu', '--help']), ('--help cpu', ['cpu', '--help']), ('-h dump', ['dump', '--help']), \
            ('help show', ['show', '--help']), ('help nothing', ['--help', 'nothing']), \
            ('list tracepoint:sched:sched_sw*', ['-l', 'tracepoint:sched:sched_sw*']), \
            ('list -v tracepoint:sched:sched_sw*', ['-l', '-v', 'tracepoint:sched:sched_sw*']):
        mine, same = run(STRATA, *words.split()), run(STRATA, *option)
        cases.check((mine.stdout, mine.stderr, mine.returncode) == (same.stdout, same.stderr, same.returncode)
                    and mine.stdout + mine.stderr, words, mine, same)
    for script, *args in ['begin { print($1); exit(); }', '7'], ['begin {\n/* ' + 'long ' * 100 + '*/\n\tprint(7); exit(); }']:
        done = run(STRATA, script, *args)
        cases.check(done.stdout.startswith('7\n') and not done.returncode, f'a script without -e: {script[:20]!r}', done)
    with tempfile.TemporaryDirectory() as dir:
        pathlib.Path(dir, 'a{b').write_text('begin { print(8); exit(); }')
        done = run(STRATA, 'a{b', cwd=dir)
        missing = run(STRATA, 'none.bt', cwd=dir)
        cases.check(done.stdout.startswith('8\n') and 'cannot read none.bt' in missing.stderr, 'a file with a brace', done, missing)


def workers(cases):
    """A master that sleeps: the hint names the worker, which is busy."""
    with subprocess.Popen(['/usr/bin/python3', '-c', MASTER], stdout=subprocess.PIPE, text=True) as master:
        worker = master.stdout.readline().strip()
        said = run(STRATA, 'cpu', '-p', master.pid, '-d', '500ms').stderr
        cases.check(re.search(rf'^hint: its busiest children are {worker} \(\w+, \d+ ms of CPU\): try -p {worker}, or -p '
                              rf'{master.pid} --children$', said, re.M), 'the worker of a sleeping master', said, worker)
        for args in ['-p', master.pid, '--children'], ['-p', f'{master.pid},{worker}'], ['-p', master.pid, '-p', worker]:
            done = run(STRATA, '-f', 'json', '-e', 'profile:hz:499 { @[pid] = count(); }', *args, '-d', '500ms')
            cases.check(f'"{worker}"' in done.stdout, f'the worker: {args}', done)
        script = 'profile:hz:499 { @[pid] = count(); }'
        done = run(STRATA, '-f', 'json', '-e', script, '-p', f'{master.pid},{os.getpid()}', '-d', '500ms')
        cases.check(f'"{worker}"' not in done.stdout, 'two processes without their children', done)
        os.kill(int(worker), 9)
        master.kill()


# A child that comes later starts one of its own, which computes and ends.
LATER = '''
import os, sys, time
sys.stdin.readline()
if not os.fork():
    if not os.fork():
        while time.process_time() < 0.3:
            pass
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
'''


def descendants(cases):
    """--children follows processes that come later; the session ends with the process of -p."""
    with subprocess.Popen(['/usr/bin/python3', '-c', LATER], stdin=subprocess.PIPE, text=True) as master, \
            subprocess.Popen([STRATA, '-e', 'profile:hz:499 { @[ppid == $1] = count(); }', str(master.pid), '-p', str(master.pid),
                              '--children'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as tracer:
        said = tracer.stdout.readline()
        master.stdin.write('go\n')
        master.stdin.flush()
        out = said + tracer.communicate(timeout=60)[0]
    samples = re.search(r'^@\[(?:false|0)\]: (\d+)$', out, re.M)
    cases.check(samples and int(samples[1]) > 50, 'a grandchild that came later', out)
    done = run(STRATA, 'cpu', '--children', '-d', '1')
    cases.check(done.returncode == 1 and '--children needs -p' in done.stderr, '--children without -p', done)


def empty(cases):
    """Each tool explains why it has no answer about a process that sleeps."""
    with subprocess.Popen(['sleep', '60']) as sleeper:
        for tool in 'cpu', 'offcpu', 'wakeups', 'threads', 'locks', 'alloc', 'leak', 'io', 'connect', 'exec':
            said = run(STRATA, tool, '-p', sleeper.pid, '-d', '300ms').stderr
            cases.check(re.search(rf'^hint: no events: process {sleeper.pid} was asleep .* it waits in clock_nanosleep$', said, re.M)
                        and f'strata dump -p {sleeper.pid}' in said, f'{tool}: nothing, and why', said)
        sleeper.kill()
    with subprocess.Popen(['sleep', '0.5']) as ended:  # nobody waits for it meanwhile
        said = run(STRATA, 'cpu', '-p', ended.pid, '-d', '20').stderr
        cases.check(f'hint: no events: process {ended.pid} has ended' in said and 'dump' not in said, 'a process that has ended', said)
    done = run(STRATA, '-e', 'begin { printf("go\\n"); } uprobe:libc:sethostid { @ = count(); }', '-d', '300ms')
    cases.check('hint: no events' in done.stderr and 'hint: try longer' in done.stderr, 'no process, no event', done)
    done = run(STRATA, '-e', 'begin { printf("go\\n"); } interval:ms:1 { exit(); }')
    cases.check('no events' not in done.stderr, 'a script that prints in begin wants no events', done)


def startup(cases):
    """A program in which only the C library keeps memory for itself has no leak."""
    done = run(STRATA, 'leak', '-f', 'json', '-c', 'sleep 1')
    entries = [entry for line in done.stdout.splitlines() if '"map"' in line for entry in json.loads(line)['entries']]
    # On a busy machine a stack may not be whole.
    whole = [entry for entry in entries if not any(part.get('end') for part in entry['key'] if isinstance(part, dict))]
    cases.check(not whole and 'no events' not in done.stderr and
                re.search(r"^hint: \d+ stacks of the C library's own memory are left out", done.stderr, re.M), 'leak: none, and why', done)
    done = run(STRATA, 'leak', '--startup', '-c', 'sleep 1')
    cases.check('setlocale' in done.stdout, '..but with --startup', done)


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
empty_parts(cases)
own_code(cases)
names_of_files(cases)
words(cases)
workers(cases)
descendants(cases)
empty(cases)
startup(cases)
sys.exit(cases.done())
