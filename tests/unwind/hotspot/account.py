#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - compares the stacks that Java programs know of themselves with those that strata saw.

    account.py STRATA ACCOUNTS [VERSION:MODE]...

Account.java asks for a file at each account, and the probe of that system call has javastack. Methods, files and lines
of 99.9 % of all stacks must be equal, and the kernel half must have seen all."""
import pathlib
import re
import subprocess
import sys
import tempfile

import javas

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = r'''
tracepoint:syscalls:sys_enter_newfstatat, tracepoint:syscalls:sys_enter_newstat, tracepoint:syscalls:sys_enter_access
/ strcontains(str(args.filename), "/account-") /
{ printf("@%s\n%s--\n", str(args.filename), javastack(200)); }
'''
# Frames of the file's own method, above the account.
TOP = re.compile(r'(java\.io\.|sun\.nio\.|Account\.mark )')


def seen_stacks(text):
    """Returns {number: frames} of the stacks that strata printed."""
    out = {}
    for part in text.split('@/account-')[1:]:
        number, _, stack = part.partition('\n')
        frames = [line.strip() for line in stack.splitlines() if line.strip() not in ('', '--')]
        while frames and TOP.match(frames[0]):
            frames.pop(0)
        out.setdefault(int(number), frames)
    return out


def known_stacks(text):
    """Returns {number: frames} of the program's own account, in strata's form."""
    out = {}
    for line in text.splitlines():
        if not line.startswith('account-'):
            continue
        number, *frames = line.split('\t')
        frames = [re.sub(r' null:-?\d+$| (\S+):-[12]$', r' \1', f).rstrip() for f in frames]
        out[int(number[8:])] = frames
    return out


def canonical(frame):
    """Lambda classes have the address or number of their class at different places of the name."""
    return re.sub(r'(\$\$Lambda|LambdaForm\$\w+|GeneratedMethodAccessor|GeneratedConstructorAccessor)[^ .]*(\.0x\w+)?',
                  r'\1', frame)


def run(strata, accounts, name, mode, classes):
    program = subprocess.Popen([*javas.command(name, mode), '-cp', classes, 'Account', str(accounts)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    tracer = subprocess.Popen([strata, '-p', str(program.pid), '-e', SCRIPT], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors='replace')
    line = tracer.stderr.readline()
    while line and not line.startswith('Attached'):
        line = tracer.stderr.readline()
    program.stdin.write('\n')
    program.stdin.flush()
    own, out = list(iter(program.stdout.readline, 'end\n')), []
    last = f'@/account-{sum(line.startswith("account-") for line in own) - 1}\n'
    while not out or (out[-1] and out[-1] != last): # read while the process lives
        out.append(tracer.stdout.readline())
    while out[-1] and out[-1] != '--\n':
        out.append(tracer.stdout.readline())
    program.communicate('\n')
    _, err = tracer.communicate(timeout=120)
    return known_stacks(''.join(own)), seen_stacks(''.join(out)), err


def compare(known, seen):
    """Returns the numbers of equal and of missing stacks, and the first differences."""
    equal, missing, bad = 0, 0, []
    for number, frames in known.items():
        if number not in seen:
            missing += 1
            continue
        mine, theirs = [canonical(f) for f in seen[number]], [canonical(f) for f in frames]
        if mine == theirs:
            equal += 1
        elif len(bad) < 3:
            bad.append((number, theirs, mine))
    return equal, missing, bad


def show(bad):
    for number, theirs, mine in bad:
        print(f'  account {number}:')
        for i in range(max(len(theirs), len(mine))):
            a, b = (theirs[i] if i < len(theirs) else ''), (mine[i] if i < len(mine) else '')
            print(f'  {"  " if a == b else "! "}{a:60} {b if a != b else ""}')


def main(strata, accounts, *cases):
    failed = False
    with tempfile.TemporaryDirectory(dir=javas.CACHE.parent) as classes:
        try:
            javas.compiled(HERE / 'Account.java', classes)
        except javas.Missing as e:
            return javas.fails('17', e)
        for case in cases or [f'{n}:{m}' for n in javas.names() for m in javas.modes(n)]:
            name, mode = case.split(':')
            try:
                known, seen, err = run(strata, int(accounts), name, mode, classes)
            except javas.Missing as e:
                failed |= javas.fails(name, e)
                continue
            equal, missing, bad = compare(known, seen)
            fine = len(known) >= int(accounts) and not missing and equal >= 0.999 * len(known)
            print(f'{"ok" if fine else "not ok"} {case}: {equal} of {len(known)} equal, {missing} missing', flush=True)
            show(bad)
            if not fine:
                print(err[-500:])
                failed = True
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
