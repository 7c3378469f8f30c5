#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""busy.py - a profile of a busy PHP: the functions of each stack are in an order that the program
allows, and the stacks are whole, except those that were interrupted while C and PHP call each other.

    busy.py STRATA [SAMPLES [PHP...]]    root. PHP: see account.py"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import absent
import account
import phps

SCRIPT = 'profile:hz:499 { @[ustack(8192)] = count(); if (++@n >= %s) { exit(); } } interval:s:100 { exit(); }'
STACK = re.compile(r'^@\[\n(.*?)\n\]: (\d+)$', re.M | re.S)
PROGRAM = 'busy.php'
WHOLE = 0.97 # of all stacks; a wrong stack must have a mark

# The callers of each function.
CALLS = {
    '{main}': {'work'}, 'work': {'sorted', 'summed', 'mapped', 'replaced', 'leaf'},
    'sorted': {'range', 'shuffle', 'usort'}, 'usort': {'compare'}, 'compare': {'leaf'},
    'summed': {'values', 'Generator::current', 'Generator::next'}, 'values': {'leaf'},
    'mapped': {'array_map'}, 'array_map': {'number'}, 'number': {'leaf'},
    'replaced': {'preg_replace_callback', 'implode'}, 'preg_replace_callback': {'replace'},
    'replace': {'Text::__construct', 'Text::__toString'}, 'Text::__toString': {'leaf', 'str_repeat'},
}
ALL = set(CALLS) | set().union(*CALLS.values())


# Calls through C, whose frames are between; other calls have no frames of C.
THROUGH_C = {('usort', 'compare'), ('array_map', 'number'), ('preg_replace_callback', 'replace'),
             ('replace', 'Text::__toString'), ('summed', 'values')}
# The function of a generator is called like any other, and then makes the generator.
EITHER = {('summed', 'values')}
ENTRIES = re.compile(r'(zend_call_function|zend_generator_resume)\+')


def judge(text):
    """Returns 'whole', 'marked', or the error."""
    frames = [line.strip() for line in text.split('\n')]
    if frames[-1].startswith('['):
        return 'marked: ' + frames[-1]
    caller, between = None, []
    for frame in reversed(frames):
        name = frame.split(' ')[0]
        if name not in ALL:
            between.append(frame)
            continue
        if caller and name not in CALLS.get(caller, ()):
            return f'{name} called by {caller}'
        if caller and bool(between) != ((caller, name) in THROUGH_C) and (caller, name) not in EITHER:
            return f'{name} called by {caller}, {len(between)} native frames between'
        if between and caller and not any(ENTRIES.match(native) for native in between):
            return f'{name} called by {caller}, not by {between}'
        if not caller and (name != '{main}' or not re.search('_start|libc', frames[-1])):
            return f'{name} called by {frames[-1]}'
        caller, between = name, []
    return 'whole' if caller else 'no frame of PHP'


def look(strata, samples, name, mode):
    program = pathlib.Path('/tmp') / f'busy-{os.getpid()}.php' # it exists whatever the root is
    program.write_bytes((HERE / PROGRAM).read_bytes())
    traced = subprocess.Popen([*phps.command(name, mode), program], stdout=subprocess.PIPE, cwd='/tmp')
    try:
        traced.stdout.readline()
        done = subprocess.run([strata, '-p', str(traced.pid), '-e', SCRIPT % samples], capture_output=True, text=True)
    finally:
        traced.kill()
        traced.wait()
        program.unlink()
    tally = {}
    for text, n in STACK.findall(done.stdout):
        if os.environ.get('KEEP') and judge(text) != 'whole':
            print(judge(text), n); print(text)
        tally[judge(text)] = tally.get(judge(text), 0) + int(n)
    total, whole = sum(tally.values()), tally.pop('whole', 0)
    wrong = sum(n for what, n in tally.items() if not what.startswith('marked'))
    ok = total >= int(samples) and whole >= WHOLE * total - 2 and not wrong
    print(f'php {name} {mode}: {total} stacks, whole: {whole}, wrong: {wrong} {done.stderr.strip()}'
          f'{"" if ok else " FAILED"}', flush=True)
    for what, n in sorted(tally.items(), key=lambda item: -item[1])[:5]:
        print(f'  {n}: {what}')
    return ok


def main(strata, samples='500', *names):
    ok = True
    for name, mode in account.wanted(names):
        try:
            ok &= look(strata, samples, name, mode)
        except absent.Missing as why:
            ok &= not phps.fails(name, why)
    return not ok


if __name__ == '__main__':
    if os.geteuid():
        print('needs root')
        sys.exit(77) # skipped
    sys.exit(main(*sys.argv[1:]))
