#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pidns.py STRATA - strata in a PID namespace, such as a container: IDs, filters, stacks and
names are those of the namespace."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import Missing, all_fail

STRATA, PYTHON = os.path.realpath(sys.argv[1]), os.path.realpath(sys.executable)
INSIDE = ['unshare', '--pid', '--fork', '--mount-proc']
PROGRAM = """
import os, sys
def say(*words):
    os.write(1, (' '.join(map(str, words)) + '\\n').encode()) # whole: strata writes to the same pipe
def inner():
    os.getppid()
def outer():
    inner()
if len(sys.argv) > 1:
    say(os.getpid())
    sys.stdin.readline()
if os.fork() == 0:
    say('child', os.getpid())
    outer()
    os._exit(0)
os.wait()
say('parent', os.getpid())
outer()
"""
TRACE = '''tracepoint:syscalls:sys_enter_getppid {
    printf("%s pid %d tid %d\\n", comm, pid, tid); printf("%s", ustack); @[ustack(1)] = count(); }'''
cases = tap.Cases()


def strata(wrap, *args):
    return subprocess.run([*wrap, STRATA, *args], capture_output=True, text=True, timeout=60)


def numbers(text, word):
    return re.findall(rf'^{word} (\d+)$', text, re.M)


def whole(text):
    """Returns whether the stack has Python's functions by name, and no frame is bare hex."""
    return re.search(r'inner.*\n.*outer', text) and not re.search(r'^ +0x[0-9a-f]+$', text, re.M)


def command(program, name, wrap, inner=()):
    shell = ' '.join([*inner, PYTHON, str(program)])
    done = strata(wrap, '-e', TRACE, '-c', shell)
    seen = re.findall(r'^\S+ pid (\d+) tid (\d+)$', done.stdout, re.M)
    own = [pid for word in ('child', 'parent') for pid in numbers(done.stdout, word)]
    cases.check(done.returncode == 0 and len(seen) == 2 and all(p == t for p, t in seen),
                f'{name}: -c sees the command and its child', done.stdout, done.stderr)
    if not inner:
        cases.check([p for p, _ in seen] == own, f'{name}: pid is that of the namespace', seen, own)
    else:  # in a nested namespace; outside, it has another number
        cases.check(len({p for p, _ in seen}) == 2 and '0' not in {p for p, _ in seen},
                    f'{name}: pids are those of strata\'s namespace', seen)
    cases.check(whole(done.stdout), f'{name}: the stacks are whole, with names', done.stdout)
    cases.check('PID namespace' not in done.stderr, f'{name}: nothing to warn of', done.stderr)


def process(program, name, wrap):
    script = f'''
    mkfifo in; exec 3<>in
    {PYTHON} {program} wait <in >out & pid=$!
    while ! grep -q . out; do sleep 0.05; done
    {STRATA} -e '{TRACE}' -p $pid >trace 2>said & tracer=$!
    while ! grep -q Attached said; do sleep 0.05; kill -0 $tracer || break; done
    echo >&3
    wait $tracer
    echo code $?; cat out trace said'''
    with tempfile.TemporaryDirectory() as dir:
        done = subprocess.run([*wrap, 'sh', '-c', script], capture_output=True, text=True, timeout=60, cwd=dir)
    seen = re.findall(r'^\S+ pid (\d+) tid', done.stdout, re.M)
    cases.check('code 0' in done.stdout and seen == numbers(done.stdout, 'parent'), f'{name}: -p sees the process, '
                'and it alone', done.stdout, done.stderr)
    cases.check(whole(done.stdout), f'{name}: -p: the stack is whole, with names', done.stdout)


def others():
    """Processes outside of the namespace."""
    busy = subprocess.Popen(['sh', '-c', 'while :; do :; done'])
    try:
        done = strata(INSIDE, '-e', 'profile:hz:99 { @[pid, ustack(2)] = count(); } interval:ms:500 { exit(); }')
    finally:
        busy.kill()
        busy.wait()
    cases.check('PID namespace' in done.stderr.splitlines()[0], 'system-wide: the first line has the limits',
                done.stderr)
    cases.check('[process of another PID namespace]' in done.stdout and not re.search(r'^ +0x', done.stdout, re.M),
                'their stacks say so', done.stdout)
    done = strata(['unshare', '--pid', '--fork'], '-e', 'begin { }')
    cases.check('/proc is that of another' in done.stderr.splitlines()[0] and 'mount -t proc' in done.stderr,
                'the /proc of another namespace is reported', done.stderr)
    done = strata(INSIDE, '-e', 'begin { printf("%d", pid); }')
    cases.check(done.stdout.strip() == '1', "pid of strata itself, the namespace's first process", done)


def own_events():
    done = strata(INSIDE + ['timeout', '-s', 'INT', '1'], '-e', 'uprobe:libc:malloc /pid/ { printf("%d %s\\n", pid, comm); }')
    cases.check(' strata' not in done.stdout, 'strata does not trace itself', done.stdout[:200])


def main():
    made = subprocess.run([*INSIDE, 'true'], capture_output=True, text=True)
    if made.returncode:  # for a root directory that is not a mount point
        sys.exit(all_fail(Missing(f'no PID namespace can be made here: {made.stderr.strip()}')))
    with tempfile.TemporaryDirectory() as dir:
        program = pathlib.Path(dir, 'program.py')
        program.write_text(PROGRAM)
        command(program, 'first namespace', [])
        command(program, 'a namespace', INSIDE)
        command(program, 'two namespaces', INSIDE + INSIDE)
        command(program, 'a command in a namespace of its own', INSIDE, INSIDE)
        process(program, 'a namespace', INSIDE)
        process(program, 'two namespaces', INSIDE + INSIDE)
    others()
    own_events()
    sys.exit(cases.done())


main()
