#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""backlog.py STRATA BACKLOG - while the tables of a process' many files are made, another process sends more stacks
than the ring buffer can hold: they are whole. So are those of children that end before strata has heard of their
parent. Prints TAP."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
import waits
from absent import as_root
from traced import attached

STRATA, BACKLOG = sys.argv[1:]
CALLS = 300
LEAST = 200 # whole; on a busy machine one table may last longer than the ring; without a backlog 30 to 70 are whole
CHILDREN = 20
OTHERS = 1000 # started later, so strata reads them before the parent
SLEEPS = f'i=0; while [ $i -lt {OTHERS} ]; do sleep 600 & i=$((i + 1)); done; echo; wait'
PAGES = 512 # of the ring: 120 stacks
FILES = 300 << 20 # bytes
SCRIPT = f'''config = {{ perf_rb_pages = {PAGES} }}
uprobe:libc:getppid /strncmp(comm, "backlog", 7) == 0/ {{ @[ustack] = count(); }}'''


def files():
    """Returns libraries of middle size, whose tables take milliseconds."""
    found, size = [], 0
    for directory in ('/usr/lib', '/lib'):
        for path in sorted(pathlib.Path(directory).rglob('*.so*')):
            if size < FILES and path.is_file() and not path.is_symlink() and 200 << 10 < path.stat().st_size < 3 << 20:
                found.append(str(path))
                size += path.stat().st_size
    return found


def start(directory, *options):
    tracer = subprocess.Popen([STRATA, '-v', *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, STRATA_CACHE_DIR=directory))
    attached(tracer)
    return tracer


def finish(cases, tracer, calls, least, what):
    waits.idle(tracer.pid)
    tracer.send_signal(signal.SIGINT)
    out, said = tracer.communicate(timeout=100)
    stacks = [(body.split('\n'), int(n)) for body, n in re.findall(r'^@\[\n(.*?)\n\]: (\d+)', out, re.M | re.S)]
    cases.check(sum(n for _, n in stacks) == calls, f'{what}: {calls} stacks', out, said)
    whole = sum(n for lines, n in stacks if re.match(r'\s+_start\+', lines[-1]))
    cases.check(whole >= least, f'{what}: {whole} of them whole', out, said)
    return said


def beside_tables(cases, directory):
    tracer = start(directory, '-e', SCRIPT)
    waits.idle(tracer.pid) # it has read all processes
    mapping = subprocess.Popen([BACKLOG, 'map'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    mapping.stdin.write('\n'.join(files()) + '\n')
    mapping.stdin.close()
    mapping.stdout.readline() # they are mapped
    subprocess.run([shutil.copy(BACKLOG, directory), 'call', str(CALLS)], check=False) # a new file
    said = finish(cases, tracer, CALLS, LEAST, 'next to tables')
    mapping.kill()
    mapping.wait()
    made = re.search(r'tables: (\d+) .* KB in ([\d.]+) ms', said)
    cases.check(made and float(made[2]) > 200, 'tables took longer than the ring lasts', said)


def children(cases, directory):
    """Children of a process that strata has not read yet; no other process runs its file. strata is stopped until they
    have ended."""
    parent = subprocess.Popen([shutil.copy(BACKLOG, f'{directory}/backlog-parent'), 'fork', str(CHILDREN)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    others = subprocess.Popen(['sh', '-c', SLEEPS], stdout=subprocess.PIPE, start_new_session=True)
    others.stdout.readline()
    try:
        tracer = start(directory, '-e', SCRIPT)
        os.kill(tracer.pid, signal.SIGSTOP)
        parent.stdin.write(b'\n')
        parent.stdin.close()
        parent.stdout.readline()
        os.kill(tracer.pid, signal.SIGCONT)
        finish(cases, tracer, CHILDREN, CHILDREN, 'children that are over')
    finally:
        os.killpg(others.pid, signal.SIGKILL)
        parent.kill()
        parent.wait()
        others.wait()


def main():
    cases = tap.Cases()
    for case in (beside_tables, children):
        with tempfile.TemporaryDirectory() as directory:
            case(cases, directory)
    return cases.done()


sys.exit(as_root(main))
