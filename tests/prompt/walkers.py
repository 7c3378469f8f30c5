#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""walkers.py STRATA - stacks at the prompt, which the session's programs walk, are equal to those of a separate
script; programs that interrupt one another have their own stacks. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
import waits
from absent import as_root

STRATA = os.path.realpath(sys.argv[1])
PROGRAM = '''import os, time
def inner():
    return os.getppid()
def outer(pause):
    print('runs', flush=True)
    while True:
        inner()
        if pause: time.sleep(pause)
outer({})
'''
PAUSE = 0.02
# Scripts for one line of the program. The third walks within a loop's body, where a program cannot be called; the
# fourth walks more frames than the session's programs have space for.
ASKED = [
    'tracepoint:syscalls:sys_enter_getppid /pid == PID/ { print(ustack); exit() }',
    'rawtracepoint:sys_enter /pid == PID && arg1 == 110/ { print(pystack); exit() }',
    'tracepoint:syscalls:sys_enter_getppid /pid == PID/ { for ($i : 0..30) { if ($i == 29) { print(ustack) } } exit() }',
    'tracepoint:syscalls:sys_enter_getppid /pid == PID/ { print(ustack(2000)); exit() }',
    'uprobe:libc:getppid /pid == PID/ { print(ustack); exit() }',
    'uretprobe:libc:getppid /pid == PID/ { print(ustack); exit() }',
    'tracepoint:syscalls:sys_enter_getppid /pid == PID/ { print(ustack(3)); print(pystack); print(len(ustack)); exit() }',
    'tracepoint:syscalls:sys_enter_getppid /pid == PID/ { print(goid); exit() }',
    'tracepoint:syscalls:sys_enter_getppid /pid == PID && beampid == ""/ { print(goid); exit() }',
]


def prompt(*steps):
    """Types lines, and returns what was printed. (LINE, TEXT) then waits for the text, (LINE, WAIT) calls WAIT(PID)."""
    with tempfile.TemporaryDirectory() as state, open(os.path.join(state, 'out'), 'a') as out:
        printed = pathlib.Path(out.name).read_text
        p = subprocess.Popen([STRATA, '--interactive'], text=True, stdin=subprocess.PIPE, stdout=out,
                             stderr=subprocess.STDOUT, env=os.environ | {'XDG_STATE_HOME': state})
        for line, until in steps:
            p.stdin.write(line + '\n')
            p.stdin.flush()
            if isinstance(until, str):
                waits.comes(lambda: until in printed(), 120)
            else:
                until(p.pid)
        p.stdin.close()
        p.wait(120)
        return printed()


def frames(text):
    """Returns the lines and numbers of the stacks, without the text of the prompt."""
    text = re.sub(r'\x1b\[\d*[A-Z]', '', text)
    return [line.strip() for line in text.splitlines()
            if re.match(r'\s+\S|\d+$', line) and not line.startswith('[')]


def known(run):
    """Returns the frames that run(EARLIER) prints. On a busy machine a mark is right, since the first event may come before
    the process is read. Then it runs again, the last time after a line that makes strata read all processes."""
    for earlier in [], [], [], [], [('interval:s:1000 { print(ustack) }', waits.idle)]:
        seen = frames(run(earlier))
        if seen and not any('not known yet' in line for line in seen):
            break
    return seen


def same(cases, pid):
    for script in ASKED:
        script = script.replace('PID', str(pid)).replace('110', '173' if os.uname().machine == 'aarch64' else '110')
        alone = known(lambda _: subprocess.run([STRATA, '-q', '-e', script], capture_output=True, text=True, timeout=60).stdout)
        typed = known(lambda earlier: prompt(*earlier, (script, 'has called exit()')))
        cases.check(alone and typed[-len(alone):] == alone, f'{len(alone)} lines: {script}', typed, 'alone:', alone)


def interrupted(cases, pid):
    # The tables of its files are in the cache then, so that few samples come before strata knows them.
    subprocess.run([STRATA, '--unwind', str(pid)], stdout=subprocess.DEVNULL, check=True, timeout=120)
    started = waits.cpu_time(pid)
    text = prompt((f'profile:hz:4999 /pid == {pid}/ {{ @sampled[ustack] = count() }}', '[1] 1 probe'),
                  (f'tracepoint:syscalls:sys_enter_getppid /pid == {pid}/ {{ @asked[ustack] = count() }}', '[2] 1 probe'),
                  ('', lambda strata: waits.until(lambda: waits.cpu_time(pid) > started + 2, 'two seconds of samples')))
    stacks = re.findall(r'^@(asked|sampled)\[\s*\n(.*?)^\]: (\d+)', text, re.M | re.S)
    asked = [frames(stack) for kind, stack, _ in stacks if kind == 'asked']
    sampled = {(frames(stack) or ['none'])[-1]: int(n) for kind, stack, n in stacks if kind == 'sampled'}
    cases.check(len(asked) == 1 and 'getppid' in asked[0][0], 'one stack where the program asks', asked)
    whole = sum(n for first, n in sampled.items() if first.startswith(('_start', 'none')))
    cases.check(whole > 0.99 * sum(sampled.values()) > 0 and all(first.startswith(('_start', 'none', '[')) for first in
                sampled), 'and samples begin where it does, or have a mark', sampled)
    cases.check('lost' not in text, 'none is lost', text[-2000:])


def main():
    cases = tap.Cases()
    for pause, check in ((PAUSE, same), (0, interrupted)):
        program = subprocess.Popen([sys.executable, '-c', PROGRAM.format(pause)], stdout=subprocess.PIPE)
        try:
            program.stdout.readline()
            check(cases, program.pid)
        finally:
            program.kill()
            program.wait()
    return cases.done()


sys.exit(as_root(main))
