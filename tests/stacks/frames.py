#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""frames.py STRATA - single frames of stacks, ustack[1].func, against the account that programs keep of their calls."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
CALLS = 3000
PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
int counts[4];
__attribute__((noinline)) void leaf_of_frames(int n) { counts[n]++; __asm__ volatile("" ::: "memory"); }
#define CALLER(name, n) __attribute__((noinline)) void name(void) { leaf_of_frames(n); __asm__ volatile("" ::: "memory"); }
CALLER(first_caller, 0)
CALLER(second_caller, 1)
CALLER(third_caller, 2)
static inline __attribute__((always_inline)) void inlined_caller(void)
{
	leaf_of_frames(3);
	__asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void outer(int n)
{
	switch (n) {
	case 0: first_caller(); break;
	case 1: second_caller(); break;
	case 2: third_caller(); break;
	default: inlined_caller();
	}
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	for (int i = 0; i < %d; i++)
		outer(rand() %% 4);
	printf("[%%d,%%d,%%d,%%d]\n", counts[0], counts[1], counts[2], counts[3]);
}
''' % CALLS
PYTHON = '''import os
def leaf():
    os.getppid()
def middle():
    leaf()
middle()
'''
CALLERS = ['first_caller', 'second_caller', 'third_caller', 'inlined_caller']


def strata(*arguments):
    done = subprocess.run([STRATA, '-q', *map(str, arguments)], capture_output=True, text=True, timeout=100)
    return done.stdout + done.stderr


def counts(text, name):
    """Returns {key: count} of a map."""
    return {key: int(n) for key, n in re.findall(rf'^@{name}\[(.*)\]: (\d+)$', text, re.M)}


def by_function(counts):
    """Adds up the functions of a file that have no names, which are file+address."""
    found = {}
    for function, n in counts.items():
        function = function.partition('+')[0]
        found[function] = found.get(function, 0) + n
    return found


def test_account(cases, program):
    seen = strata('-c', program, '-e', '''uprobe:%s:leaf_of_frames {
        @leaf[ustack[0].func] = count(); @caller[ustack[1].func] = count(); @outer[ustack[2]] = count();
        @lang[ustack[1].lang, ustack[-1].func] = count(); @file[ustack[1].module] = count();
        $caller = ustack[1]; @kept[$caller.func] = count(); @deep[ustack[40]] = count(); }''' % program)
    own = dict(zip(CALLERS, json.loads(re.search(r'^\[[\d,]+\]$', seen, re.M).group())))
    cases.check(counts(seen, 'leaf') == {'leaf_of_frames': CALLS}, 'ustack[0].func', seen)
    cases.check(counts(seen, 'caller') == own, 'ustack[1].func is the program\'s own account', f'{own}\n{seen}')
    cases.check(counts(seen, 'kept') == own, '..also of a frame in a variable', f'{own}\n{seen}')
    cases.check(counts(seen, 'outer') == {'outer': CALLS}, 'ustack[2], behind an inlined function too', seen)
    cases.check(counts(seen, 'lang') == {'native, _start': CALLS}, 'ustack[1].lang and ustack[-1].func', seen)
    cases.check(counts(seen, 'file') == {str(program): CALLS}, 'ustack[1].module', seen)
    cases.check(counts(seen, 'deep') == {'[no such frame]': CALLS}, 'a frame that is not there', seen)


def test_lines(cases, program):
    seen = strata('-c', program, '-e', '''uprobe:%s:leaf_of_frames {
        @line[ustack[1].func, ustack[1].file, ustack[1].line] = count(); }''' % program)
    source = PROGRAM.split('\n')
    lines = [1 + next(i for i, text in enumerate(source) if f'CALLER({name},' in text) for name in CALLERS[:3]]
    lines.append(1 + next(i for i, text in enumerate(source) if '\tleaf_of_frames(3);' in text))
    found = {(name, os.path.basename(path), int(line)) for name, path, line in
             (key.split(', ') for key in counts(seen, 'line'))}
    cases.check(found == {(name, 'program.c', line) for name, line in zip(CALLERS, lines)}, '.file and .line', seen)


def test_last(cases, program):
    seen = strata('-c', program, '-e', '''uprobe:%s:leaf_of_frames {
        @all[ustack] = count(); @last[ustack(-2)] = count(); @len = max(len(ustack(-2))); exit(); }''' % program)
    every = re.search(r'^@all\[\n(.*?)\n\]: ', seen, re.M | re.S).group(1).split('\n')
    last = re.search(r'^@last\[\n(.*?)\n\]: ', seen, re.M | re.S).group(1).split('\n')
    cases.check(last == every[-2:] and len(every) > 3, 'ustack(-2): the two outermost frames', seen)
    cases.check('@len: 2\n' in seen, 'len(ustack(-2))', seen)


def stacks(text, name):
    """Returns {the lines of a stack's functions: count} of a map."""
    return {tuple(line.strip().partition('+')[0] for line in key.strip().split('\n')): int(n)
            for key, n in re.findall(rf'^@{name}\[\n(.*?)\n\]: (\d+)$', text, re.M | re.S)}


def test_part(cases, program):
    seen = strata('-c', program, '-e', """uprobe:%s:leaf_of_frames {
        @to[ustack(to: "outer")] = count(); @from[ustack(from: "outer", to: "ma*")] = count();
        @none[ustack(func, to: "nobody")] = count(); @frame = ustack(from: "*caller")[0].func;
        $s = ustack(from: "main"); @kept[$s] = count(); }""" % program)
    own = dict(zip(CALLERS, json.loads(re.search(r'^\[[\d,]+\]$', seen, re.M).group())))
    cases.check(stacks(seen, 'to') == {('leaf_of_frames', name, 'outer'): n for name, n in own.items()},
                'to: the frames up to a function', f'{own}\n{seen}')
    cases.check(stacks(seen, 'from') == {('outer', 'main'): CALLS}, 'from: and to:, as one key', seen)
    marked = stacks(seen, 'none')
    cases.check(len(marked) == 4 and all('main' in key and key[-1] == '[no frame matches from: or to:]' for key in marked),
                'without such a frame the stack is whole, and has a mark', seen)
    cases.check(re.search(r'^@frame: \w+_caller$', seen, re.M), 'a frame of a part', seen)
    cases.check(sum(stacks(seen, 'kept').values()) == CALLS and all(key[0] == 'main' for key in stacks(seen, 'kept')),
                'a part in a variable', seen)


def test_loop(cases, program):
    """`for ($f : ustack)`: each frame once per event, inlined functions too; the sums are those of the whole stacks."""
    seen = strata('-c', program, '-e', """uprobe:%s:leaf_of_frames {
        for ($f : ustack) { @each[$f.func] = count(); @line[comm, $f.func, $f.line] = count();
            if (pid == cpid) { @depth[$f.lang, $f] = max(7); } }
        $s = ustack; for ($g : $s) { @same[$g.func] = count(); }
        @all[ustack] = count(); @n = count();
        if (@n == 1) { for ($f : ustack(2)) { printf("<%%s>\\n", $f.func); } for ($f : ustack(2)) { print($f); } } }""" % program)
    own = dict(zip(CALLERS, json.loads(re.search(r'^\[[\d,]+\]$', seen, re.M).group())))
    every = {}
    for stack, n in stacks(seen, 'all').items():
        for function in stack:
            every[function] = every.get(function, 0) + n
    each = by_function(counts(seen, 'each'))
    cases.check(each == every and {name: each.get(name) for name in CALLERS} == own and each['outer'] == each['main'] == CALLS,
                'for ($f : ustack): each function counts', own, seen)
    cases.check(by_function(counts(seen, 'same')) == each, '..of a stack in a variable', seen)
    line = counts(seen, 'line')
    cases.check(sum(line.values()) == sum(each.values()) and any(key.startswith('program, outer, ') for key in line),
                '..as a part of a key, with lines', seen)
    cases.check(set(counts(seen, 'depth').values()) == {7} and any(key.startswith('native, inlined_caller') for key in counts(seen, 'depth')), '..in a condition', seen)
    cases.check(re.search(r'^<leaf_of_frames>\n<(\w+_caller)>\n(<.*\n)?leaf_of_frames.*\n\1', seen, re.M), '..printed', seen)
    done = subprocess.run([STRATA, '-q', '-f', 'json', '-c', str(program), '-e',
                           'uprobe:%s:leaf_of_frames { for ($f : ustack) { @[$f.func] = count(); } }' % program],
                          capture_output=True, text=True, timeout=100)
    maps = [json.loads(text) for text in done.stdout.splitlines() if '"map"' in text]
    cases.check(maps and by_function(maps[0]['data']['@']) == each, '..as JSON', done)
    for script, message in {
            'for ($f : ustack) { @x = $f.func; }': 'may only count its frames, or print them',
            'for ($f : ustack) { @[$f.func]++; }': 'may only count its frames, or print them',
            'for ($f : ustack) { print($f); if (pid) { print($f.func); } }': 'prints with one statement',
            'for ($f : ustack) { break; }': 'break is outside of a loop', 'for ($f : 5) { print($f); }': 'a range, a map or a stack, not int',
            'for ($f : ustack) { if ($f.func == "x") { print($f); } }': 'cannot be compared'}.items():
        seen = strata('-e', f'begin {{ {script} }}')
        cases.check(message in seen and seen.count('error:') == 1, f'{script}: {message}', seen)


def test_python(cases, directory):
    script = directory / 'frames_program.py'
    script.write_text(PYTHON)
    seen = strata('-c', f'/usr/bin/python3 -S -E {script}', '-e', '''uprobe:libc:getppid {
        printf("%s|%s|%s|%s|%s\\n", pystack[0], pystack[1].func, pystack[1].line, pystack[-1].func, pystack[0].lang);
        print(ustack[0].func); }''')
    cases.check(f'leaf {script}|middle|5|<module>|python\n' in seen, 'frames of Python', seen)
    cases.check(re.search(r'^(__)?getppid$', seen, re.M), '..and of C above it', seen)


def test_errors(cases):
    for script, message in {
            'ustack[0].func == "main"': 'cannot be compared', 'ustack[rand]': 'is a constant',
            'ustack[0].fun': 'did you mean .func?', 'ustack[0].zzz': 'a frame has .func, .file',
            'ustack[0].func.x': 'has no fields', 'ustack[16384]': '-16384 to 16383', 'ustack(0)': 'outermost'}.items():
        seen = strata('-e', f'begin {{ if ({script}) {{ }} }}')
        cases.check(message in seen, f'{script}: {message}', seen)
    for script, message in {
            'print(ustack(too: "x"))': 'ustack has no argument too:', 'print(pid(to: "x"))': 'pid has no argument to:',
            'print(len(ustack(to: "x")))': 'leave out from: and to:',
            'if (has_frame(ustack(to: "x"), "y")) { }': 'leave out the negative limit, from: and to:'}.items():
        seen = strata('-e', f'begin {{ {script}; }}')
        cases.check(message in seen, f'{script}: {message}', seen)


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        program = directory / 'program'
        (directory / 'program.c').write_text(PROGRAM)
        subprocess.run(['cc', '-O1', '-g', '-o', program, directory / 'program.c'], check=True)
        test_account(cases, program)
        test_lines(cases, program)
        test_last(cases, program)
        test_part(cases, program)
        test_loop(cases, program)
        test_python(cases, directory)
    test_errors(cases)
    return cases.done()


sys.exit(main())
