#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""busy.py STRATA HZ SAMPLES [ERLANG...] - a profile of a busy Erlang: each function was called by one that may call
it, the line is within the function, and the stacks are whole, also while the garbage collector moves a stack. So are the
stacks of --unwind, which stops the threads. Prints TAP."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import beams

STRATA, HZ, SAMPLES, NAMES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
SCRIPT = (f'config = {{ max_map_keys = {SAMPLES + 1000} }} '
          f'profile:hz:{HZ} {{ @[ustack(16384)] = count(); if (++@n >= {SAMPLES}) {{ exit(); }} }} '
          f'interval:s:{10 * SAMPLES // HZ + 20} {{ exit(); }}')
STOPS = 20
STACK = re.compile(r'^@\[\n(.*?)\n\]: (\d+)$', re.M | re.S)
FRAME = re.compile(r"([a-z]\w*):(\w+|'[^']+')/(\d+)(?: (\S+\.erl):(\d+)(?:-(\d+))?)?$")
WHOLE = 0.997
# Functions of busy.erl, and what they call: others of busy.erl, or modules, whose functions may call each other and, by
# funs, the functions after the `|`.
WORK = {'sorted', 'matched', 'big', 'compared', 'mapped', 'garbage', 'bytes', 'caught', 'recurse', 'asked', 'swept'}
CALLS = {
    'main': set(), 'work': WORK, 'other': {'text', 'leaf', 'spin'},
    'sorted': {'by', 'lists', 'sorted+'}, 'by': {'leaf', 'spin'}, 'leaf': {'spin'}, 'spin': set(),
    'matched': {'lists', 're'}, 'big': {'power'}, 'power': {'power'}, 'compared': {'lists'},
    'mapped': {'lists', 'maps', 'mapped+', 'leaf', 'spin'}, 'garbage': {'lists', 'garbage+', 'erlang'},
    'bytes': {'lists', 'bytes+', 'sum'}, 'sum': {'sum'}, 'caught': {'fails'}, 'fails': {'leaf', 'spin', 'erlang'},
    'recurse': {'recurse', 'leaf', 'spin'}, 'asked': {'lists', 'erlang'}, 'swept': {'lists', 'ets', 'swept+', 'leaf', 'spin'},
    'text': {'io_lib', 'lists'},
    'sorted+': {'sorted+'}, 'mapped+': {'leaf', 'spin'}, 'garbage+': {'garbage+'}, 'bytes+': {'leaf', 'spin', 'bytes+'},
    'swept+': {'leaf', 'spin', 'swept+'},
}
# What modules call back, or call.
BACK = {'lists': {'by', 'mapped+', 'swept+'}, 'maps': {'mapped+', 'leaf', 'spin'}, 'ets': {'lists', 'swept+'},
        'io_lib': {'io_lib_format', 'lists', 'io_lib_pretty', 'erl_scan', 'epp', 'erl_features'}, 're': {'lists'},
        'erlang': {'erts_internal'}, 'erts_internal': set(), 'epp': set(), 'erl_features': {'persistent_term'},
        'io_lib_format': {'io_lib', 'io_lib_pretty', 'lists', 'epp'}, 'erl_scan': {'erl_features'},
        'persistent_term': set(),
        'io_lib_pretty': {'io_lib', 'io_lib_format', 'lists', 'epp'}, 'init': {'init', 'work'}}
REACHED = WORK | {'spin', 'by', 'sum', 'power', 'text', 'other', 'lists', 'io_lib_format'}


def lines_of():
    """Returns the range of lines of each function."""
    text = (HERE / 'busy.erl').read_text().split('\n')
    found, name = {}, None
    for number, line in enumerate(text, 1):
        begins = re.match(r'([a-z]\w*)\(', line)
        name = begins.group(1) if begins else name
        if name and line:
            found[name] = found.get(name, (number, number))[0], number
    return found


LINES = lines_of()


def key_of(module, function):
    """Returns the name in CALLS or BACK: a fun's is its function's with a +."""
    inner = re.match(r"'-(\w+)/\d+-", function)
    return (inner.group(1) + '+' if inner else function) if module == 'busy' else module


def judge(text, reached):
    """Returns 'whole', 'marked', 'other' for a stack outside of the program, or the error."""
    frames = [line.strip() for line in text.split('\n')]
    if re.match(r'\[\w+[ :]', frames[-1]):
        return f'marked: {frames[-1]}'
    erlang = [found for found in map(FRAME.match, reversed(frames)) if found]
    if not any(found.group(1) == 'busy' for found in erlang):
        return 'other'
    caller = None
    for found in erlang:
        module, function, _, file, line, last = found.groups()
        key = key_of(module, function)
        if module == 'busy' and file:
            first, end = LINES[key.rstrip('+')]
            if file != 'busy.erl' or not first <= int(line) <= int(last or line) <= end:
                return f'line: {found.group(0)}'
        allowed = CALLS.get(caller, set()) | BACK.get(caller, set())
        if caller is None and key not in ('init', 'other'):
            return f'{key} is the first'
        if caller and key not in allowed and not (key == caller and key in BACK):
            return f'{key} called by {caller}'
        reached.add(key)
        caller = key
    return 'whole'


def short(text):
    """Returns the text without the folders of files."""
    return re.sub(r' \S*/(\S+\.erl:)', r' \1', text)


def stopped(pid):
    """Returns the stacks of some stops of --unwind, with Erlang's frames or without."""
    for _ in range(STOPS):
        done = subprocess.run([STRATA, '--unwind', str(pid)], capture_output=True, text=True, check=True)
        yield from re.findall(r'^Thread .*\n((?:[ \t]+\S.*\n)+)', done.stdout, re.M)


def look(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        beams.compile_module(name, HERE / 'busy.erl', directory)
        traced = subprocess.Popen(beams.command(name, directory, 'busy', 0), stdout=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, cwd='/tmp')
        try:
            traced.stdout.readline()
            done = subprocess.run([STRATA, '-p', str(traced.pid), '-e', SCRIPT], capture_output=True, text=True)
            held = list(stopped(traced.pid))
        finally:
            traced.kill()
            traced.wait()
    tally, worst, reached = {}, '', set()
    for text, n in STACK.findall(done.stdout):
        what = judge(short(text), reached)
        if os.environ.get('KEEP') and what not in ('whole', 'other'):
            print(what, n, text, sep='\n')
        tally[what] = tally.get(what, 0) + int(n)
        if what not in ('whole', 'other') and (not worst or not what.startswith('marked')):
            worst = text
    total, whole = sum(tally.values()) - tally.pop('other', 0), tally.pop('whole', 0)
    wrong = sum(n for what, n in tally.items() if not what.startswith('marked'))
    missing = REACHED - reached if SAMPLES >= 5000 else {'work', 'other'} - reached
    cases.check(total >= 0.7 * SAMPLES and whole >= WHOLE * total and not wrong and not missing,
                f'{name}: {total} stacks, {whole} whole, {wrong} wrong',
                *sorted(((n, what) for what, n in tally.items()), reverse=True)[:8], missing, worst, done.stderr)
    judged = [(judge(short(text.rstrip()), set()), text) for text in held]
    whole = sum(what == 'whole' for what, _ in judged)
    wrong = [(what, text) for what, text in judged if what not in ('whole', 'other')]
    cases.check(whole >= STOPS / 2 and len(wrong) <= 1 and all(what.startswith('marked') for what, _ in wrong),
                f'{name}: --unwind: {whole} whole of {len(judged)} stacks', *(part for pair in wrong[:3] for part in pair))


sys.exit(accounts.each(NAMES or beams.names(), beams.get, look))
