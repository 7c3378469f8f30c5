#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""busy.py STRATA HZ SAMPLES [PERL...] - a profile of a busy Perl: each sub was called by one that may call it, through
the C functions that belong between them, and the stacks are whole, except a few that were interrupted while C and Perl
call each other. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import perls

STRATA, HZ, SAMPLES, NAMES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
SCRIPT = (f'config = {{ max_map_keys = {SAMPLES + 1000} }} '
          f'profile:hz:{HZ} {{ @[ustack(8192)] = count(); if (++@n >= {SAMPLES}) {{ exit(); }} }} '
          f'interval:s:{10 * SAMPLES // HZ + 20} {{ exit(); }}')
STACK = re.compile(r'^@\[\n(.*?)\n\]: (\d+)$', re.M | re.S)
WHOLE = 0.997

# Caller -> sub -> the C function between them; None: there is none.
SORT, CALL, TIE, FREE = r'Perl_sortsv|Perl_pp_sort', r'Perl_amagic_call', r'Perl_mg_[gs]et', r'Perl_sv_clear|Perl_leave_scope'
CALLS = {
    '(main)': {'main::work': None},
    'main::work': {f'main::{name}': None for name in (
        'sorted', 'sorted_by', 'overloaded', 'tied_slot', 'listed', 'evaluated', 'replaced')},
    'main::sorted': {'(sort)': SORT}, '(sort)': {'main::leaf': None},
    'main::sorted_by': {'main::by_leaf': SORT}, 'main::by_leaf': {'main::leaf': None},
    'main::overloaded': {'Number::new': None, 'Number::plus': CALL, 'Number::text': CALL, 'Number::compare': CALL,
                         '(eval)': rf'{CALL}|{FREE}'},
    'Number::plus': {'main::leaf': None}, 'Number::text': {'main::leaf': None}, 'Number::compare': {'main::leaf': None},
    'main::tied_slot': {'Slot::TIESCALAR': r'Perl_pp_tie|Perl_call', 'Slot::FETCH': TIE, 'Slot::STORE': TIE},
    'Slot::FETCH': {'main::leaf': None}, 'Slot::STORE': {'main::leaf': None},
    'main::listed': {'main::__ANON__': r'Util\.so|Perl_pp_entersub'}, 'main::__ANON__': {'main::leaf': None},
    'main::evaluated': {'(eval)': None}, 'main::replaced': {'main::leaf': None},
    # C begins an eval for DESTROY.
    '(eval)': {'(eval)': None, 'main::leaf': None, 'Number::DESTROY': None},
    'Number::DESTROY': {'(eval)': None},
}
ALL = set(CALLS) | {name for called in CALLS.values() for name in called}


def judge(text):
    """Returns 'whole', 'marked', or the error."""
    frames = [line.strip() for line in text.split('\n')]
    if frames[-1].startswith('['):
        return f'marked: {frames[-1]}'
    caller, between = None, []
    for frame in reversed(frames):
        name = frame.split(' ')[0]
        if name not in ALL:
            between.append(frame)
            continue
        if ('leaf.pl:' in frame) != (name == 'main::leaf'):
            return f'another file: {frame}'
        if not caller:
            if name != '(main)':
                return f'{name} is the first'
        elif name not in CALLS.get(caller, ()):
            return f'{name} called by {caller}'
        else:
            through = CALLS[caller][name]
            if bool(through) != bool(between) or (through and not any(re.search(through, line) for line in between)):
                return f'{name} called by {caller} through {between}'
        caller, between = name, []
    # After a die, perl_run() begins the loop again: it calls sigsetjmp(), which has no name in a stripped libc.
    begins = re.match(r'siglongjmp|__longjmp|((libc|__sig)\S*\n)*perl_run', '\n'.join(frames))
    return 'whole' if caller or begins else 'no frame of Perl'


def look(cases, name):
    program = pathlib.Path('/tmp') / f'busy-{os.getpid()}.pl'  # it exists whatever the root is
    program.write_bytes((HERE / 'busy.pl').read_bytes())
    traced = subprocess.Popen(['env', 'LC_ALL=C', perls.get(name), program], stdout=subprocess.PIPE, cwd='/tmp')
    try:
        traced.stdout.readline()
        done = subprocess.run([STRATA, '-p', str(traced.pid), '-e', SCRIPT], capture_output=True, text=True)
    finally:
        traced.kill()
        traced.wait()
        program.unlink()
    tally, worst = {}, ''
    for text, n in STACK.findall(done.stdout):
        what = judge(text)
        if os.environ.get('KEEP') and what != 'whole':
            print(what, text, sep='\n')
        tally[what] = tally.get(what, 0) + int(n)
        if what != 'whole' and (not worst or not what.startswith('marked')):
            worst = text
    total, whole = sum(tally.values()), tally.pop('whole', 0)
    wrong = sum(n for what, n in tally.items() if not what.startswith('marked'))
    subs = {name for name in ALL if name in done.stdout}
    cases.check(total >= SAMPLES and whole >= WHOLE * total and not wrong and subs == ALL,
                f'Perl {name}: {total} stacks, {whole} whole, {wrong} wrong',
                *sorted(((n, what) for what, n in tally.items()), reverse=True)[:8], ALL - subs, worst, done.stderr)


sys.exit(accounts.each(NAMES or perls.names(), perls.get, look))
