#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py STRATA NAME... - the names of threads in the languages, and the holder of the GIL, in dump and threads, next to the
program's own account. NAME: system, one of tests/pythons/get, or node-22. Prints TAP."""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/lib'), str(ROOT / 'tests/pythons'), str(ROOT / 'tests/unwind/v8')]
import absent
import binaries
import pythons
from tap import Cases

STRATA, NAMES = os.path.realpath(sys.argv[1]), sys.argv[2:]

# Names by attributes set before Thread.__init__, by assignment, by default, with characters of two bytes; one thread
# holds the GIL nearly all the time. Prints {"tid": name}.
GETTID = {'x86_64': 186, 'aarch64': 178}[os.uname().machine]
PYTHON = r'''
import ctypes, json, threading, time
tids, libc = {}, ctypes.CDLL(None)
def note():
    tids[libc.syscall(GETTID)] = threading.current_thread().name
class Job(threading.Thread):
    def __init__(self, n):
        self.n, self.more = n, [n]
        super().__init__(name='Auftrag-%d: \u00fcber \u2192' % n, daemon=True)
    def run(self):
        note()
        while True:
            time.sleep(0.05)
def report():
    note()
    while True:
        sum(i for i in range(1000))
def pause():
    note()
    while True:
        time.sleep(0.05)
note()
for n in range(3):
    Job(n).start()
threading.Thread(target=pause, daemon=True).start()
renamed = threading.Thread(target=pause, daemon=True)
renamed.name = 'renamed'
renamed.start()
threading.Thread(target=report, name='report', daemon=True).start()
while len(tids) < 7:
    time.sleep(0.01)
print(json.dumps(tids), flush=True)
while True:
    time.sleep(0.05)
'''
# Each worker says its number and its tid: thread-self is a link that is read in the thread itself. One has ended, one runs.
NODE = r'''
const {Worker, isMainThread, threadId, parentPort} = require('worker_threads');
const tid = () => require('fs').readlinkSync('/proc/thread-self').split('/').pop();
if (isMainThread) {
    const tids = {};
    const start = () => new Worker(process.argv[1]).on('message', ([tid, n]) => {
        if (n != 1)
            tids[tid] = 'worker ' + n;
        if (n < 4)
            start();
        else
            console.log(JSON.stringify(tids));
    });
    start();
    setInterval(() => {}, 50);
} else {
    parentPort.postMessage([tid(), threadId]);
    if (threadId == 3)
        setTimeout(() => { for (;;); }, 20);
    else if (threadId > 1)
        setInterval(() => {}, 50);
}
'''


def program(name):
    if name.startswith('node-'):
        return [binaries.node(name.removeprefix('node-')), NODE]
    python = '/usr/bin/python3' if name == 'system' else pythons.get(name) / 'python'
    return [python, PYTHON.replace('GETTID', str(GETTID))]


def strata(*words):
    done = subprocess.run([STRATA, *words], capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr


def by_text(out):
    """Returns the names by tid that dump prints: "Thread 12 (comm, name) .." or, if the kernel has the name, "(name)"."""
    return {tid: own or comm for tid, comm, own in re.findall(r'^Thread (\d+) \((.*?)(?:, (.*))?\) \w', out, re.M)}


def by_table(out):
    lines = out.splitlines()
    head = next((line for line in lines if ' NAME ' in line), '')
    at, end = head.find(' NAME ') + 1, head.find('STATE')
    return {m[1]: line[at:end].strip() for line in lines if (m := re.search(r' (\d+)  ', line[:at]))}


def holders(process, pid):
    """Returns the names of holders in ten dumps: each held the GIL while it was walked."""
    found = []
    for _ in range(10):
        rows = [json.loads(line) for line in strata('dump', '-p', pid, '-f', 'json')[0].splitlines()]
        found += [row['data'].get('own_name', row['data']['name']) for row in rows
                  if row['type'] == 'thread' and row['data'].get('holds_gil')]
    return found


def check(cases, name, want, process):
    pid = str(process.pid)
    out, said = strata('dump', '-p', pid)
    have = by_text(out)
    cases.check(all(have.get(tid) == own for tid, own in want.items()), f'{name}: dump: {len(want)} threads', want, have, out, said)
    if name.startswith('node-'):
        others = [own for tid, own in have.items() if own.startswith('worker ') and tid not in want]
        cases.check(not others, f'{name}: no other thread is a worker', others, out)
    else:
        found = holders(process, pid)
        cases.check(found.count('report') >= 5 and len(found) <= 12, f'{name}: the holder of the GIL: {found}', want)
    out, said = strata('threads', '-p', pid, '-d', '1', '--idle')
    have = by_table(out)
    cases.check(have and all(want[tid] == have[tid] for tid in want if tid in have) and len(want.keys() & have.keys()) >= len(want) - 1,
                f'{name}: threads', want, have, out, said)


def run(cases, name):
    try:
        interpreter, source = program(name)
    except absent.Missing as e:
        cases.count += 1
        cases.failed += absent.tap_fails(cases.count, name, e)
        return
    file = pathlib.Path(f'/tmp/strata-names-{os.getpid()}')
    file.write_text(source)
    try:
        with subprocess.Popen([interpreter, str(file)], stdout=subprocess.PIPE, text=True, cwd='/tmp') as process:
            try:
                check(cases, name, json.loads(process.stdout.readline()), process)
            finally:
                process.kill()
    finally:
        file.unlink()


def main():
    cases = Cases()
    for name in NAMES:
        run(cases, name)
    return cases.done()


sys.exit(absent.as_root(main))
