#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""idle.py STRATA IDLE - waits of pools and event loops are left out, the others are not. IDLE: the program of idle.c.
Prints TAP."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import waits
from tap import Cases

DEBUG = '/usr/lib/debug'
STRATA, IDLE = (os.path.realpath(arg) for arg in sys.argv[1:3])
# A thread pool, a queue's consumers, and threads that wait for a condition, a lock and a slow peer.
PYTHON = '''
import concurrent.futures, queue, socket, threading, time
pool, jobs, done = concurrent.futures.ThreadPoolExecutor(4), queue.Queue(), threading.Condition()
lock, ends = threading.Lock(), socket.socketpair()
def consume():
    while True:
        jobs.get()()
def ask_service():
    with done:
        done.wait(0.1)
def ask_peer():
    ends[0].recv(1)
def take_lock():
    with lock:
        time.sleep(0.01)
def repeat(call):
    while True:
        call()
for call in ask_service, ask_peer, take_lock, take_lock:
    threading.Thread(target=repeat, args=(call,), daemon=True).start()
for _ in range(2):
    threading.Thread(target=consume, daemon=True).start()
while True:
    pool.submit(sum, [1, 2])
    jobs.put(lambda: sum([1, 2]))
    ends[1].send(b'x')
    time.sleep(0.02)
'''
NODE = 'setInterval(() => {}, 20)'


def starts_to_wait(pid):
    """Whether the program has left its start behind: its threads wait, and have waited before."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', status, re.M)[1]) > 20


def traced(tool, command, *args):
    """Returns the functions of each stack, innermost first, by the map's name, and the messages."""
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            waits.until(lambda: starts_to_wait(process.pid), 'the program to start')
            done = subprocess.run([STRATA, tool, '-p', str(process.pid), '-d', '1500ms', '-f', 'json', *args],
                                  capture_output=True, text=True, timeout=60)
        finally:
            process.kill()
    stacks = {}
    for line in map(json.loads, done.stdout.splitlines()):
        for name in line['data'] if line['type'] == 'map' else ():
            stacks[name] = [' '.join(f.get('function', '?') for f in part['frames']) for e in line['entries']
                            for part in e['key'] if isinstance(part, dict)]
    return stacks, done.stderr


# The first function of a wait for a condition; the C library's own names are in its debug information.
IN_LIBC = re.compile(r'(futex_abstimed\w*|^\?) ')


def has(stacks, *words):
    """Whether a stack has the words in this order."""
    pattern = '.*'.join(word.pattern if isinstance(word, re.Pattern) else re.escape(word) for word in words)
    return any(re.search(pattern, stack) for stack in stacks)


def program(cases, name, command, idle, delays):
    with tempfile.TemporaryDirectory() as dir:
        file = pathlib.Path(dir, 'program')
        if isinstance(command, tuple):
            file.write_text(command[1])
            command = [command[0], file]
        shown, said = traced('offcpu', command)
        every, _ = traced('offcpu', command, '--idle')
    shown, every = shown.get('@waited_us', []), every.get('@waited_us', [])
    for words in delays:
        cases.check(has(shown, *words), f'{name}: shown: {words}', '\n'.join(shown), said)
    for words in idle:
        cases.check(not has(shown, *words) and has(every, *words), f'{name}: only with --idle: {words}', '\n'.join(shown),
                    '---', '\n'.join(every))
    cases.check(re.search(r'^hint: \d+ idle stacks? .* left out .*--idle', said, re.M), f'{name}: says how many', said)


def locks(cases):
    stacks, said = traced('locks', [IDLE])
    waited = stacks.get('@waited_us', [])
    cases.check(has(waited, 'pthread_cond_wait', 'wait_for_answer') and not has(waited, IN_LIBC, 'pthread_cond_wait pool_worker'),
                'locks: a condition, and no pool', waited, said)


def only_idle(cases):
    stacks, said = traced('offcpu', ['/usr/bin/node', '-e', NODE])
    # Debian 12's libuv is a library without the names of its static functions.
    cases.check(has(stacks.get('@waited_us', []), re.compile(r'epoll\w* (uv__io_poll|\?) .*uv_run')) and 'all of these waits are idle' in said,
                'node without work: the event loop is the answer', stacks, said)


def timers(cases):
    command = ['/usr/bin/python3', '-c', 'import time\nwhile True: time.sleep(0.01)']
    stacks, _ = traced('wakeups', command)
    every, _ = traced('wakeups', command, '--idle')
    cases.check(not has(stacks.get('@woken', []), 'hrtimer') and has(every.get('@woken', []), 'hrtimer'),
                'wakeups: without the own timers of threads', stacks, every)


def pool(cases):
    program(cases, 'C', [IDLE],
            [('epoll_wait', 'event_loop'), (IN_LIBC, 'pthread_cond_wait pool_worker'), ('StartIoThreadMain',)],
            [('pthread_cond_wait', 'wait_for_answer')])


def without_debuginfo(cases):
    """The same C program where the C library's static functions have no names, as on most machines."""
    if not os.path.isdir(DEBUG):
        return
    done = subprocess.run(['unshare', '-m', 'sh', '-c', f'mount -t tmpfs none {DEBUG} && exec "$@"', 'sh', sys.executable, __file__,
                           STRATA, IDLE, 'pool'], capture_output=True, text=True)
    cases.check(not done.returncode, 'C, without debug information of the C library', done.stdout, done.stderr)


def main():
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    cases = Cases()
    pool(cases)
    if sys.argv[3:] == ['pool']:
        return cases.done()
    without_debuginfo(cases)
    program(cases, 'Python', ('/usr/bin/python3', PYTHON),
            [('PyThread_acquire_lock_timed', '_worker'), ('PyThread_acquire_lock_timed', 'Queue.get', 'consume')],
            [('ask_service',), ('ask_peer',), ('take_lock',)])
    locks(cases)
    timers(cases)
    if shutil.which('node', path='/usr/bin'):
        only_idle(cases)
    else:
        cases.skip('node without work', 'needs /usr/bin/node')
    return cases.done()


sys.exit(main())
