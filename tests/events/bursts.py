#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bursts.py STRATA - while strata is stopped, a program makes a burst of events whose records have strings. All are
printed afterwards, so a busy machine on which strata waits for a CPU loses none."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
EVENTS = 3000
PROG = '''
#include <unistd.h>
__attribute__((noinline)) void burst(char **argv) { __asm__ volatile("" :: "r"(argv) : "memory"); }
__attribute__((noinline)) void last(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
    char byte;

    read(0, &byte, 1);
    for (int i = 0; i < %d; i++)
        burst(argv + 1);
    last();
    write(1, "x", 1);
    read(0, &byte, 1);
    return 0;
}
''' % EVENTS
WORDS = [chr(ord('a') + i) * 60 for i in range(10)]
# The action of a probe, and the line that it prints.
BODIES = {
    'join': ('join(arg0);', ' '.join(WORDS)),
    'printf of three str()': ('printf("%s %d %s %s\\n", str(*(uint64*)arg0), 7, str(*(uint64*)(arg0 + 8)), '
                              'str(*(uint64*)(arg0 + 16)));', f'{WORDS[0]} 7 {WORDS[1]} {WORDS[2]}'),
    'print of a tuple': ('print((1, str(*(uint64*)arg0), 2, str(*(uint64*)(arg0 + 8)), 3));',
                         f'(1, {WORDS[0]}, 2, {WORDS[1]}, 3)'),
    'a record in a tuple': ('print((1, (a=str(*(uint64*)arg0), b=2)));', f'(1, {{ .a = {WORDS[0]}, .b = 2 }})'),
}


def burst(prog, body):
    """Returns (the printed lines, messages)."""
    script = f'uprobe:{prog}:burst {{ {body} }} uprobe:{prog}:last {{ exit(); }}'
    strata = subprocess.Popen([STRATA, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    traced = subprocess.Popen([prog, *WORDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for line in strata.stderr:
        if 'Attached' in line:
            break
    os.kill(strata.pid, signal.SIGSTOP)
    traced.stdin.write(b'x')
    traced.stdin.flush()
    traced.stdout.read(1)
    os.kill(strata.pid, signal.SIGCONT)
    out, err = strata.communicate(timeout=60)
    traced.communicate()
    return [line for line in out.splitlines() if line], err


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    prog = f'{dir}/prog'
    subprocess.run(['cc', '-O1', '-o', prog, '-xc', '-'], input=PROG, text=True, check=True)
    for name, (body, wanted) in BODIES.items():
        lines, said = burst(prog, body)
        cases.check(lines == [wanted] * EVENTS, name, f'{len(lines)} lines of {EVENTS}', *lines[:1], said)
sys.exit(cases.done())
