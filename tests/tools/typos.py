#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""typos.py STRATA - wrong commands: the messages name the right word or option, and show nothing of a tool's script. Prints
TAP."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
# The wrong command, and a text that its messages must have.
TYPOS = r'''
cpuu -p 1                   did you mean strata cpu\?
cpi -p 1                    did you mean strata cpu\?
ofcpu -p 1                  did you mean strata offcpu\?
off-cpu -p 1                did you mean strata offcpu\?
OFFCPU -p 1                 did you mean strata offcpu\?
lock -p 1                   did you mean strata locks\?
thread -p 1                 did you mean strata threads\?
wakeup -p 1                 did you mean strata wakeups\?
leaks -p 1                  did you mean strata leak\?
aloc -p 1                   did you mean strata alloc\?
slw -p 1                    did you mean strata slow\?
lagg -p 1                   did you mean strata lag\?
conect -p 1                 did you mean strata connect\?
dum -p 1                    did you mean strata dump\?
dmp 1                       did you mean strata dump\?
tool                        did you mean strata tools\?
recrod -p 1                 did you mean strata record\?
shwo x.json                 did you mean strata show\?
halp                        did you mean strata help\?
hlep                        did you mean strata help\?
lisst                       did you mean strata list\?
memory -p 1                 strata alloc or strata leak
heap -p 1                   did you mean strata leak\?
profile -p 1                did you mean strata cpu\?
stacks -p 1                 did you mean strata dump\?
flame -p 1                  strata cpu -o cpu\.svg
latency -p 1                strata slow or strata lag
gil -p 1                    did you mean strata locks\?
1234                        did you mean strata cpu -p 1234\?
offcpu -pid 1               did you mean --pid or -p\?
cpu 1234                    did you mean -p 1234\?
cpu ./app                   did you mean -c \./app\?
cpu --pdi 1                 did you mean --pid\?
cpu --durration 1           did you mean --duration\?
cpu --hzz 99                did you mean --hz\?
cpu --hz abc                --hz takes a number, not 'abc'
cpu --hz                    --hz needs a value
cpu --thread                did you mean --threads\?
cpu --outptu x.svg          did you mean --output\?
cpu --onlly x               did you mean --only\?
cpu --children              --children needs -p
cpu --formt svg             did you mean --format\?
offcpu --minn 1             did you mean --min\?
offcpu --waker              did you mean --wakers\?
offcpu --min x              --min takes a number, not 'x'
locks --idel                did you mean --idle\?
leak --oldr 1               did you mean --older\?
io --stack                  did you mean --stacks\?
io --histo                  did you mean --hist\?
lag --ovr 20ms              did you mean --over\?
lag --over abc              --over takes a number, not 'abc'
top --hzz 9                 did you mean --hz\?
record --outpt x            did you mean --output\?
cpu -o x.sgv                did you mean x\.svg\?
cpu -o x.htlm               did you mean x\.html\?
cpu -o x.png                \.svg, \.html
cpu -f sgv                  did you mean svg\?
cpu -d abc                  -d takes a time, such as 10
cpu -d 10x                  -d takes a time, such as 10
cpu -p abc                  not a process ID: abc
cpu -p                      needs an argument: -p
cpu -c nosuchprogram        command not found: nosuchprogram
dump                        -p PID, or dump CORE
show                        the file of a recording
-l tracepiont:sched:*       did you mean tracepoint:sched:\*\?
-e 'profle:hz:99 { @ = count(); }'           did you mean profile\?
-e 'profile:hz:99 { @[usatck] = count(); }'  did you mean ustack\?
-e 'begin { prntf("x"); }'                   did you mean printf\?
-e 'tracepoint:sched:sched_swich { exit(); }'  sched_switch\?
'''

if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    for line in TYPOS.strip().splitlines():
        command, wanted = re.fullmatch(r'(.*?)\s{2,}(\S.*)', line).groups()
        done = subprocess.run([STRATA, *shlex.split(command)], capture_output=True, text=True, input='', timeout=60, cwd=dir)
        own = command.startswith('-e') or not re.search(r'^\w+:\d+:\d+: |getopt', done.stderr, re.M)
        cases.check(done.returncode == 1 and re.search(wanted, done.stderr) and own, command, done.stderr)
    done = subprocess.run([STRATA, '-e', 'begin { exit(); }'], capture_output=True, text=True,
                          env={**os.environ, 'STRATA_CACHEDIR': '/x'})
    cases.check('warning: STRATA_CACHEDIR' in done.stderr and 'did you mean STRATA_CACHE_DIR?' in done.stderr,
                'a variable of the environment', done.stderr)
root = pathlib.Path(__file__).resolve().parents[2]
read = {name for file in (root / 'src').rglob('*.c') for name in re.findall(r'getenv\("(\w+)"\)', file.read_text())}
manual = (root / 'man/strata.8').read_text().partition('.SH ENVIRONMENT')[2].partition('.SH')[0]
cases.check(read and not [name for name in read if name not in manual], 'the manual has each variable', read)
sys.exit(cases.done())
