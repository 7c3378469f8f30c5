#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""causes.py STRATA LEAKY - planted causes: the first five lines of a tool's text name the function, with default options.
LEAKY: the library of leaky.c. Prints TAP."""
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

STRATA, LEAKY = (os.path.realpath(arg) for arg in sys.argv[1:3])
PYTHON, NODE = '/usr/bin/python3', '/usr/bin/node'
START = 'import sys\nprint("ready", flush=True)\n'

GIL = START + '''
import threading, time
def make_report():
    return sum(n * n for n in range(200000))
def reports():
    while True:
        make_report()
def answer():
    while True:
        time.sleep(0.001)
threading.Thread(target=reports, daemon=True).start()
answer()
'''
CONDITION = START + '''
import threading, time
full, jobs = threading.Condition(), []
def wait_for_stock():
    with full:
        while not jobs:
            full.wait()
        jobs.pop()
def sell():
    while True:
        wait_for_stock()
for _ in range(3):
    threading.Thread(target=sell, daemon=True).start()
while True:
    time.sleep(0.1)
    with full:
        jobs.append(1)
        full.notify()
'''
HASH = START + '''
import asyncio, hashlib
def hash_password(text):
    return hashlib.pbkdf2_hmac('sha256', text, b'salt', 200000)
async def login(reader, writer):
    hash_password(await reader.readline())
    writer.write(b'ok')
    writer.close()
async def main():
    server = await asyncio.start_server(login, '127.0.0.1', 0)
    address = server.sockets[0].getsockname()
    while True:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b'secret\\n')
        await reader.read()
        writer.close()
        await asyncio.sleep(0.05)
asyncio.run(main())
'''
LEAK = START + '''
import ctypes, time
library = ctypes.CDLL(sys.argv[1])
def keep_session(size):
    library.remember(size)
    library.forget(2 * size)
while True:
    keep_session(500)
    time.sleep(0.01)
'''
FSYNC = START + '''
import os, tempfile
file = tempfile.TemporaryFile(dir='.')
def write_log(text):
    file.write(text)
    file.flush()
    os.fsync(file.fileno())
def handle():
    write_log(b'x' * 100)
while True:
    handle()
'''
# orders.ts as a bundler writes it, and its source map.
ORDERS = r'''function a(t){return /^(\w+\s?)*$/.test(t)}
console.log("ready");for(;;)a("a slow pattern "+Math.random()+"!");
//# sourceMappingURL=bundle.js.map
'''


def vlq(*numbers):
    digits, out = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', ''
    for n in numbers:
        n = -n << 1 | 1 if n < 0 else n << 1
        while n > 31:
            out, n = out + digits[n & 31 | 32], n >> 5
        out += digits[n]
    return out


def typescript(dir):
    first = ','.join([vlq(0, 0, 10, 0), vlq(9, 0, 0, 9, 0), vlq(1, 0, 0, 10), vlq(4, 0, 1, -17)])
    second = ','.join([vlq(0, 0, 5, 0), vlq(29, 0, 1, 2)])
    pathlib.Path(dir, 'bundle.js').write_text(ORDERS)
    pathlib.Path(dir, 'bundle.js.map').write_text(json.dumps({
        'version': 3, 'sources': ['src/orders.ts'], 'names': ['isOrderNumber'], 'mappings': first + ';' + second}))
    return [NODE, f'{dir}/bundle.js']


def cause(cases, name, tool, command, wanted, dir):
    """A program that says when it begins. wanted: a pattern, which one of the first five lines has."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, cwd=dir) as program:
        try:
            waits.until(lambda: program.stdout.readline().strip() == 'ready', 'the program to start')
            pid = program.pid
            if command[0] == 'unshare':
                pid = waits.until(lambda: subprocess.run(['pgrep', '-P', str(pid)], capture_output=True, text=True).stdout.strip(),
                                  'the process in its namespaces')
            done = subprocess.run([STRATA, tool, '-p', str(pid), '-d', '2'], capture_output=True, text=True, timeout=60)
        finally:
            subprocess.run(['pkill', '-KILL', '-P', str(program.pid)])
            program.kill()
    first = done.stdout.splitlines()[:5]
    cases.check(any(re.search(wanted, line) for line in first), f'{name}: strata {tool}', '\n'.join(first), done.stderr)


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory() as dir:
        os.chmod(dir, 0o755)
        for name, text in dict(gil=GIL, condition=CONDITION, hash=HASH, leak=LEAK, fsync=FSYNC).items():
            pathlib.Path(dir, f'{name}.py').write_text(text)
        container = ['unshare', '--pid', '--fork', '--mount-proc', '--uts', '--ipc', PYTHON, 'fsync.py']
        for name, tool, command, wanted in (
                ('the GIL, held by a report', 'locks', [PYTHON, 'gil.py'], r'@held_us.*_PyRuntime.*make_report.*gil\.py:\d+'),
                ('a condition variable', 'offcpu', [PYTHON, 'condition.py'], r'@waited_us.*wait_for_stock.*condition\.py:9'),
                ('a hash in an asyncio handler', 'lag', [PYTHON, 'hash.py'], r'@blocked_us.*hash_password.*hash\.py:6 <- login'),
                ('a leak from Python into C', 'leak', [PYTHON, 'leak.py', LEAKY], r'@leaked_bytes.*keep_session.*leak\.py:7'),
                ('fsync() in a container', 'offcpu', container, r'@waited_us.*fsync <- write_log.*fsync\.py:9 <- handle')):
            cause(cases, name, tool, command, wanted, dir)
        if shutil.which(NODE):
            cause(cases, 'a pattern in TypeScript', 'cpu', typescript(dir), r'@cpu: <regexp> <- isOrderNumber \S*/src/orders\.ts:1[12]', dir)
        else:
            cases.skip('a pattern in TypeScript', f'needs {NODE}')
    return cases.done()


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
sys.exit(main())
