#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cores.py STRATA - strata dump of core files: the program, the signal, and the thread that crashed. Prints TAP."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import waits
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
PATTERN = pathlib.Path('/proc/sys/kernel/core_pattern').read_text().strip()
PROG = r'''
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int *volatile where;

__attribute__((noinline)) static void fault(int n)
{
    *where = n;
    __asm__ volatile("");
}

static void *rests(void *arg)
{
    pause();
    return arg;
}

static void *works(void *arg)
{
    const char *how = arg;

    if (!strcmp(how, "null"))
        where = (int *)0x10;
    else if (!strcmp(how, "read-only"))
        where = mmap((void *)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    else if (!strcmp(how, "abort"))
        abort();
    else
        pause();
    fault(3);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;

    pthread_create(&t, 0, rests, 0);
    pthread_create(&t, 0, works, argv[1]);
    write(1, "ready\n", 6);
    pthread_join(t, 0);
    return 0;
}
'''
CRASHES = {'null': ('SIGSEGV, address 0x10 is not mapped', 'fault'),
           'read-only': ('SIGSEGV, address 0x10000000 does not allow this access', 'fault'), 'abort': ('SIGABRT', 'abort')}


def dump(*words):
    done = subprocess.run([STRATA, *map(str, words)], capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr


def threads(out):
    """The heading of each thread, and the functions of its stack."""
    return [(part.split('\n')[0], re.findall(r'^ +(\w+)', part, re.M)) for part in out.split('\n\n') if part.startswith('Thread ')]


def crashes(cases, prog):
    for how, (signal, function) in CRASHES.items():
        with tempfile.TemporaryDirectory() as dir:
            subprocess.run([prog, how], cwd=dir, stdout=subprocess.DEVNULL,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2))
            core = next(pathlib.Path(dir).glob('core*'))
            out, said = dump('dump', core)
            same = dump('--unwind', core)[0]
            json = dump('dump', core, '-f', 'json')[0]
        found = threads(out)
        cases.check(re.match(rf'Process \d+: {prog} {how}\n', out) and len(found) == 3, f'{how}: the program', out, said)
        cases.check(re.fullmatch(rf'Thread \d+ crashed: {signal}', found[0][0]) and function in found[0][1]
                    and all(head.endswith('stopped') for head, _ in found[1:]), f'{how}: the thread that crashed', out)
        cases.check(out == same and f'"state": "crashed: {signal}"' in json, f'{how}: --unwind and JSON', same, json)


def living(cases, prog):
    """The layout is that of a process. A core of gcore has no signal that ended the process."""
    with subprocess.Popen([prog, 'wait'], stdout=subprocess.PIPE) as p, tempfile.TemporaryDirectory() as dir:
        p.stdout.readline()
        waits.until(lambda: all(waits.state(tid) == 'S' for tid in os.listdir(f'/proc/{p.pid}/task')), 'the threads to rest')
        outs = [dump(*words)[0] for words in (('dump', '-p', p.pid), ('dump', p.pid), ('--unwind', p.pid))]
        cases.check(outs[0] == outs[1] == outs[2] and len(threads(outs[0])) == 3, 'one layout', *outs)
        if shutil.which('gcore'):
            subprocess.run(['gcore', '-o', f'{dir}/core', str(p.pid)], capture_output=True, check=True)
            out, said = dump('dump', f'{dir}/core.{p.pid}')
            cases.check('crashed' not in out and sorted(f for _, f in threads(out)) == sorted(f for _, f in threads(outs[0])),
                        "gcore's core: the same stacks, and no crash", out, said, outs[0])
        p.kill()
    said = dump('dump', prog)[1]
    cases.check('neither a process ID nor a core file' in said, 'a program is not a core', said)


cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    prog = f'{dir}/prog'
    subprocess.run(['cc', '-O1', '-g', '-w', '-pthread', '-o', prog, '-xc', '-'], input=PROG, text=True, check=True)
    living(cases, prog)
    if '|' in PATTERN or '/' in PATTERN or resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        cases.skip('cores of the kernel', f'it writes none where the program runs: {PATTERN}')
    else:
        crashes(cases, prog)
sys.exit(cases.done())
