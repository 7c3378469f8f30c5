#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""urgent.py STRATA - on a machine where many sessions want the CPUs, strata does not wait for them. Programs that it
runs wait like all others, and so does strata after it has worked for long. Needs root."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from absent import all_fail, as_root  # noqa: E402
from tap import Cases  # noqa: E402
from traced import attached  # noqa: E402

STRATA = sys.argv[1]
PROFILE = 'profile:hz:99 { @[ustack] = count(); }'
FLOOD = 'rawtracepoint:sys_enter /comm == "flood"/ { printf("%s\\n", ustack); }'
POLICY = 'import os; print(os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))'
ORDINARY = f'{os.SCHED_OTHER} 0'
cases = Cases()


def may_be_urgent():
    """Returns whether a process of root may be realtime here."""
    return not subprocess.run(['python3', '-c', 'import os; os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))'],
                              stderr=subprocess.DEVNULL).returncode


def wait_times(pid):
    """Returns the seconds in which the process' first thread ran, and those in which it waited for a CPU: see schedstat in
    proc(5)."""
    return [int(n) / 1e9 for n in pathlib.Path(f'/proc/{pid}/schedstat').read_text().split()[:2]]


def begins_in_time():
    """The cache is empty, so strata makes the tables of all running programs."""
    with tempfile.TemporaryDirectory() as cache:
        tracer = subprocess.Popen([STRATA, '-e', PROFILE], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  env={**os.environ, 'STRATA_CACHE_DIR': cache})
        begun = time.monotonic()
        attached(tracer)
        took, (ran, waited) = time.monotonic() - begun, wait_times(tracer.pid)
        tracer.kill()
        tracer.communicate()
    cases.check(waited < ran + 0.1, f'it has run {ran:.2f} s of the first {took:.2f}, and waited for a CPU {waited:.2f}')


def runs_others_as_usual():
    script = f'begin {{ system("python3 -c \'{POLICY}\'"); }} {PROFILE} interval:ms:100 {{ exit(); }}'
    run = ['--unsafe', '-q', '-e', script]
    out = subprocess.run([STRATA, *run], capture_output=True, text=True, timeout=60)
    cases.check(ORDINARY in out.stdout, 'what system() runs has the usual priority', out.stdout, out.stderr)
    out = subprocess.run([STRATA, '-q', '-e', PROFILE, '-c', f'python3 -c "{POLICY}"'], capture_output=True, text=True,
                         timeout=60)
    cases.check(ORDINARY in out.stdout, 'so has the command of -c', out.stdout[:400], out.stderr)


def not_for_long():
    """Printing millions of stacks takes long."""
    flood = subprocess.Popen(['bash', '-c', 'exec -a flood python3 -c "\n'
                              'open(\'/proc/self/comm\', \'w\').write(\'flood\')\nimport os\nwhile 1: os.getppid()"'])
    tracer = subprocess.Popen([STRATA, '-q', '-e', FLOOD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end, policy = time.monotonic() + 60, os.SCHED_RR
    while time.monotonic() < end and (policy == os.SCHED_RR or wait_times(tracer.pid)[0] < 2):
        time.sleep(0.2)
        policy = os.sched_getscheduler(tracer.pid)
    ran = wait_times(tracer.pid)[0]
    for process in (flood, tracer):
        process.kill()
        process.wait()
    cases.check(policy == os.SCHED_OTHER, f'after {ran:.1f} s of CPU it waits as everybody')


def main():
    if not may_be_urgent():
        return all_fail('no process may be realtime here')
    spin = 'while :; do :; done'
    busy = [subprocess.Popen(['sh', '-c', spin], start_new_session=True) for _ in range(6 * os.cpu_count())]
    try:
        time.sleep(0.5)
        begins_in_time()
        runs_others_as_usual()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    not_for_long()
    return cases.done()


sys.exit(as_root(main))
