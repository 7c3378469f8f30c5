#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py STRATA FIRST SECOND MODULE HOSTILE_V8 HOSTILE... - stops the tracer while the traced process starts,
runs another program, opens a language's library, and ends. Every stack that the tracer then prints is
whole or marked: none is empty without a reason, none shows another program's functions."""
import os
import pathlib
import re
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import waits
from tap import Cases
from traced import attached

STRATA, FIRST, SECOND, MODULE, V8, *PYTHONS = sys.argv[1:]
CALLS = 200
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1)) # STRATA_SLOW: how many times slower this machine is
SCRIPT = '''uprobe:libc:getppid /%s/ {
    @calls = count(); @p[pystack(addr)] = count(); @j[jsstack(addr)] = count(); @g[gostack] = count(); @u[ustack(addr)] = count();
}'''
PYTHON = ['hostile /hostile.py:10', 'hostile /hostile.py:11', 'hostile /hostile.py:12', 'hostile /hostile.py:13']
# Without lines: strata reads those from the process, which may have ended.
JAVASCRIPT = [f'hostile{n} /hostile.js' for n in range(4)]
NONE = re.compile(r'\[no (Python|JavaScript|Go) frames\]$') # the text for an empty stack that is whole
MARK = r'\[[A-Za-z:, -]+\]'

cases = Cases()


def hold_up(tracer, meanwhile):
    os.kill(tracer.pid, signal.SIGSTOP)
    waits.stopped(tracer.pid)
    meanwhile()
    os.kill(tracer.pid, signal.SIGCONT)


def start(condition, *options, **more):
    """Starts strata, and waits until its probes are attached."""
    tracer = subprocess.Popen([STRATA, '-e', SCRIPT % condition, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **more)
    attached(tracer)
    return tracer


def finish(tracer):
    """Returns {map: {stack's lines: count}}, and the whole output of strata."""
    out, err = (text.decode(errors='replace') for text in tracer.communicate(timeout=2 * SECONDS))
    maps = {'p': {}, 'j': {}, 'g': {}, 'u': {}}
    for name, stack, count in re.findall(r'^@(\w)\[(.*?)^\]: (\d+)$', out, re.M | re.S):
        lines = tuple(re.sub(r'(\.js):3:5$', r'\1', line.strip()) for line in stack.splitlines()
                      if line.strip() and not NONE.search(line))
        maps[name][lines] = maps[name].get(lines, 0) + int(count)
    return maps, out + err


def command(words, is_known=False, program=None):
    """Runs a command by -c that ends up running the program (by default that of its last words), and stops strata
    meanwhile. If the process shall be known, it waits for a byte, and strata can read it before."""
    name = os.path.basename(program or words.split()[-2])
    tracer = start(f'comm == "{name[:15]}"', '-c', words, stdin=subprocess.PIPE)
    child = waits.child(tracer.pid)
    if is_known:
        waits.reading(child)
        waits.idle(tracer.pid)
    else:
        waits.until(lambda: has_begun(child, words.split()[0]), f'{words} to begin')
    hold_up(tracer, lambda: run_on(tracer, child, b'\n' * is_known))
    waits.idle(tracer.pid)
    return finish(tracer)


def has_begun(child, program):
    try:
        return waits.state(child) in 'ZX' or os.path.samefile(f'/proc/{child}/exe', program)
    except FileNotFoundError:
        return True


def run_on(tracer, child, text):
    """Writes the text to the command, and waits until it ends or wants more."""
    tracer.stdin.write(text)
    tracer.stdin.flush()
    waits.until(lambda: waits.state(child) in 'ZX' or not waits.level(tracer.stdin) and waits.is_reading(child),
                'the command to end or to want more')


def whole(lines):
    """Every stack of the map is this one."""
    return lambda stacks: stacks == {tuple(lines): CALLS}


def whole_or_marked(lines, calls=CALLS):
    """Every stack is this one or ends in a mark (as when a queue of requests is full); none is lost."""
    return lambda stacks: sum(stacks.values()) == calls and all(
        stack == tuple(lines) or (stack and re.fullmatch(MARK, stack[-1])) for stack in stacks)


def native(lines):
    """Every ustack begins with these frames, or is marked."""
    def right(stacks):
        names = [[line.split('+')[0] for line in stack] for stack in stacks]
        return sum(stacks.values()) == CALLS and all(
            seen[:len(lines)] == lines or (re.fullmatch(MARK, seen[-1]) and not set(seen) & WRONG) for seen in names)
    return right


WRONG = {'first_inner', 'first_middle', 'first_outer'} # functions of the earlier program


def check(what, seen, **right):
    maps, text = seen
    for name, is_right in right.items():
        cases.check(is_right(maps[name]), f'{what}: @{name}', text)


def system_wide(program):
    """Runs the program twice: the second time its files may be known, but not the process."""
    tracer = start(f'comm == "{os.path.basename(program)}"')
    subprocess.run([program, 'truth'], check=True)
    hold_up(tracer, lambda: subprocess.run([program, 'truth'], check=True))
    waits.idle(tracer.pid)
    tracer.terminate()
    return finish(tracer)


def reasons(program):
    """Returns {mark or last function: stacks} of a program that runs and ends while strata is stopped."""
    tracer = start(f'comm == "{os.path.basename(program)}"')
    hold_up(tracer, lambda: subprocess.run([program, 'deep'], check=True))
    waits.idle(tracer.pid)
    tracer.terminate()
    maps, text = finish(tracer)
    found = {}
    for stack, count in maps['u'].items():
        found[stack[-1]] = found.get(stack[-1], 0) + count
    return found, text


if os.geteuid():
    print('1..0 # skipped: not root')
    sys.exit(0)
for hostile in PYTHONS:
    version = hostile.rpartition('-')[2]
    frames = PYTHON[:3] if version == '3.12' else PYTHON
    check(f'{version} is run', command(f'{hostile} truth'), p=whole(frames), j=whole([]), g=whole([]))
    check(f'{version} is exec\'d', command(f'{FIRST} exec {hostile} truth', True), p=whole_or_marked(frames),
          j=whole_or_marked([]))
    check(f'{version} is run by another', system_wide(hostile), p=whole_or_marked(frames, 2 * CALLS))
check('V8 is run', command(f'{V8} truth'), j=whole(JAVASCRIPT), p=whole([]), g=whole([]))
check('V8 is exec\'d', command(f'{FIRST} exec {V8} truth', True), j=whole_or_marked(JAVASCRIPT))
check('Python is opened', command(f'{FIRST} open {MODULE} truth', True, FIRST),
      p=whole_or_marked(PYTHON))
check('another program at the same addresses', command(f'{FIRST} exec {SECOND} calls', True),
      u=native(['getppid', 'second_inner', 'second_middle', 'second_outer', 'main']), p=whole_or_marked([]),
      j=whole_or_marked([]))
seen, said = reasons(FIRST)
unread = sum(seen.get(f'[{mark}]', 0) for mark in ('process not known yet', 'the process ended before it was read'))
cases.check(sum(seen.values()) == 3000 and unread > 2000, 'a process that was not read: its stacks say so', seen, said)
cases.check(not any('unwind table' in last for last in seen), 'no table is missing', seen)
sys.exit(cases.done())
