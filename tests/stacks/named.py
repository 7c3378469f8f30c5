#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""named.py STRATA - strata reads a process that a condition names before the first event: its stacks are complete from the
first, however many other processes there are. A process that does not exist is reported. The process sleeps nearly all
the time, and no other process runs its interpreter, which is a copy. Prints TAP."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import as_root

STRATA = sys.argv[1]
OTHERS = 1000 # started later, so strata would read them first
SLEEPS = f'i=0; while [ $i -lt {OTHERS} ]; do sleep 600 & i=$((i + 1)); done; echo; wait'
PROGRAM = '''import os, time
def inner(): os.getppid()
while True:
    inner()
    time.sleep(0.02)
'''
SCRIPTS = [
    'tracepoint:syscalls:sys_enter_getppid /pid == PID/ { print(pystack); exit() }',
    'tracepoint:syscalls:sys_enter_getppid /comm != "x" && (pid == PID || pid == 1)/ { print(ustack); exit() }',
    'tracepoint:syscalls:sys_enter_getppid { if (PID == pid) { print(pystack); exit() } }',
]


def main():
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as directory:
        system = pathlib.Path('/usr/bin/python3') # Debian's program contains the interpreter
        python = shutil.copy(system.resolve() if system.exists() else os.path.realpath(sys.executable), directory)
        program = subprocess.Popen([python, '-c', PROGRAM],
                                   env=dict(os.environ, PYTHONHOME='/usr' if system.exists() else sys.base_prefix))
        others = subprocess.Popen(['sh', '-c', SLEEPS], stdout=subprocess.PIPE, start_new_session=True)
        others.stdout.readline()
        try:
            for script in SCRIPTS * 3: # repeated, since a process may be read in time by chance
                out = subprocess.run([STRATA, '-q', '-e', script.replace('PID', str(program.pid))],
                                     capture_output=True, text=True, timeout=60)
                cases.check('inner <string>:2' in out.stdout, script, out.stdout, out.stderr)
        finally:
            os.killpg(others.pid, signal.SIGKILL)
            program.kill()
            program.wait()
            others.wait()
    gone = subprocess.Popen(['true'])
    gone.wait()
    for condition, pid, is_said in (('/pid == PID/', gone.pid, True), ('/PID == pid/', gone.pid, True), ('/pid == $1/', gone.pid, True),
                                    ('/pid == PID/', os.getpid(), False), ('/pid != PID/', gone.pid, False)):
        script = 'tracepoint:syscalls:sys_enter_getppid ' + condition.replace('PID', str(pid)) + ' { @ = count(); } interval:ms:100 { exit(); }'
        done = subprocess.run([STRATA, '-e', script, str(pid)], capture_output=True, text=True, timeout=60)
        cases.check((f'no process has the ID {pid}' in done.stderr) == is_said, f'{condition} with {pid}: missing: {is_said}',
                    done.stderr)
    return cases.done()


sys.exit(as_root(main))
