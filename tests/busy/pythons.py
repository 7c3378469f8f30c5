#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pythons.py - compares pystack of real Python applications with the output of faulthandler at the same instant:
functions, files and lines of each frame.

    pythons.py STRATA [--stops 200] [--python /usr/bin/python3] [--only django,pandas]

    apt-get install python3-django python3-aiohttp python3-gevent python3-numpy python3-pandas python3-lxml
        gunicorn python3-flask

A signal interrupts a thread anywhere in its work. faulthandler's handler writes that thread's stack, and strata
takes pystack in the first of these writes. An additional frame of strata is one that the interpreter is just entering
or leaving: it is in a register, and not yet, or no longer, in memory. Sometimes faulthandler itself ends CPython 3.11
by SIGSEGV (one of 17,600 signals without a tracer): then the application is started again. Needs root."""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
APPS = HERE / 'pythons'
SCRIPT = ('tracepoint:syscalls:sys_enter_write /args.fd == 200/ '
          '{ if (strncmp(str(args.buf), "Stack ", 6) == 0) { print((pid, pystack)); } }')
SYS_TGKILL = {'x86_64': 234, 'aarch64': 131}[os.uname().machine]
MOST = 100 # frames that faulthandler writes
libc = ctypes.CDLL(None)


def dumped(path):
    """Returns [[(function, file, line)]] of a process's dumps."""
    stacks = []
    for text in path.read_text(errors='replace').split('Stack (most recent call first):\n')[1:]:
        stacks.append([(function, file, int(line))
                       for file, line, function in re.findall(r'^  File "(.*)", line (\d+) in (.*)$', text, re.M)])
    return stacks


NUMPY = '<__array_function__ internals>' # numpy gives its wrappers other names, and leaves their qualified ones


def shown(frames):
    """Returns the same for strata: faulthandler has a function's name without its class."""
    return [(f['function'].rpartition('.')[2], f.get('file', ''), f.get('line', 0)) if f['kind'] == 'python'
            else ('?', f['function'], 0) for f in frames]


def same(ours, theirs):
    return [f[f[1] == NUMPY:] for f in ours] == [f[f[1] == NUMPY:] for f in theirs]


def interrupt(dumps, group):
    """Interrupts a thread of one of the group's processes; returns whether it has written."""
    pid = random.choice([int(p.name) for p in dumps.iterdir() if p.name.isdigit()] or [0])
    try:
        if not pid or os.getpgid(pid) != group:
            return False
        tid = int(random.choice(os.listdir(f'/proc/{pid}/task')))
    except OSError:
        return False
    path = dumps / str(pid)
    size = path.stat().st_size
    libc.syscall(SYS_TGKILL, pid, tid, signal.SIGRTMIN + 5)
    end = time.monotonic() + 1
    while path.stat().st_size == size and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(0.005)
    return path.stat().st_size > size


def run_app(app, args, dumps, stops):
    """Returns [(stack of faulthandler, of strata)] until the application ended, and its status, or None."""
    env = {**os.environ, 'DUMPS': str(dumps), 'PYTHONPATH': str(APPS / 'site')}
    program = subprocess.Popen([args.python, app], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    time.sleep(3)
    if program.poll() is not None:
        return [], program.returncode
    with tempfile.TemporaryFile('w+') as out:
        tracer = subprocess.Popen([args.strata, '-q', '-f', 'json', '-e', SCRIPT], stdout=out)
        time.sleep(2)
        before = {p.name: len(dumped(p)) for p in dumps.iterdir()}
        written = 0
        for _ in range(20 * stops):
            written += interrupt(dumps, program.pid)
            if written == stops or program.poll() is not None:
                break
            time.sleep(random.random() / 50)
        time.sleep(0.5)
        status = program.poll()
        try:
            os.killpg(program.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        program.wait()
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
        out.seek(0)
        seen = collections.defaultdict(list)
        for line in out:
            row = json.loads(line)
            if row['type'] == 'value' and isinstance(row['value'], list):
                seen[str(row['value'][0])].append(shown(row['value'][1]['frames']))
    pairs = []
    for path in dumps.iterdir():
        theirs = dumped(path)[before.get(path.name, 0):]
        if status is not None and path.name == str(program.pid): # it ended in the middle of the last
            theirs = theirs[:-1]
        ours = seen[path.name]
        pairs += zip(theirs, ours + [None] * (len(theirs) - len(ours)))
        path.unlink()
    return pairs, status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('strata')
    parser.add_argument('--stops', type=int, default=200)
    parser.add_argument('--python', default='/usr/bin/python3')
    parser.add_argument('--only', default='')
    args = parser.parse_args()
    total = equal = 0
    with tempfile.TemporaryDirectory() as dumps:
        for app in sorted(APPS.glob('*_app.py')):
            name = app.stem[:-4]
            if args.only and name not in args.only.split(','):
                continue
            pairs = []
            for _ in range(6):
                more, status = run_app(app, args, pathlib.Path(dumps), args.stops - len(pairs))
                pairs += more
                if status is None or status > 0 and not more or len(pairs) >= args.stops:
                    break
                print(f'{name:10} ended with status {status} after {len(pairs)} stops: started again')
            if not pairs:
                print(f'{name:10} does not run (status {status}): is what it needs installed?')
                continue
            good = [ours is not None and same(ours[:MOST], theirs) for theirs, ours in pairs]
            deepest = max((len(theirs) for theirs, _ in pairs), default=0)
            entered = [not g and bool(ours) and same(ours[1:MOST + 1], theirs) for g, (theirs, ours) in zip(good, pairs)]
            print(f'{name:10} {sum(good)} of {len(good)} equal, {sum(entered)} more with a frame that is being entered or left, '
                  f'the deepest of {deepest} frames')
            total += len(good)
            equal += sum(good)
            for (theirs, ours), equals in zip(pairs, good):
                if not equals:
                    print('  faulthandler', theirs[:4], '..', len(theirs), '\n  strata      ', ours and ours[:4], '..', ours and len(ours))
    print(f'{equal} of {total} equal')
    return equal < 0.99 * total or not total


sys.exit(main())
