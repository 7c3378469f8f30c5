#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""has_frame.py STRATA - conditions with has_frame(), against the account that programs keep of their calls, and against
the same filter on all stacks: matched + not matched + not decided + lost = all."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
CALLS = 6000
PROGRAM = r'''
#include <stdio.h>
#include <stdlib.h>
int counts[4];
extern "C" __attribute__((noinline)) void leaf_of_has(int n) { counts[n]++; __asm__ volatile("" ::: "memory"); }
namespace shop {
struct cart {
	__attribute__((noinline)) void add(int n) { leaf_of_has(n); __asm__ volatile("" ::: "memory"); }
	__attribute__((noinline)) void drop(int n) const { leaf_of_has(n); __asm__ volatile("" ::: "memory"); }
};
__attribute__((noinline)) void add(int n) { leaf_of_has(n); __asm__ volatile("" ::: "memory"); }
static inline __attribute__((always_inline)) void inlined_add(int n) { leaf_of_has(n); __asm__ volatile("" ::: "memory"); }
}
__attribute__((noinline)) void outer(int n)
{
	shop::cart c;

	switch (n) {
	case 0: c.add(n); break;
	case 1: c.drop(n); break;
	case 2: shop::add(n); break;
	default: shop::inlined_add(n);
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
# Each function is new, so is its stack.
FLOOD = r'''
import os, sys
counts = [0, 0]
def wanted(f): f()
def other(f): f()
for i in range(int(sys.argv[1])):
    names = {'os': os}
    exec(f"def f{i % 977}():\n{chr(10) * (i % 50)}    os.getppid()\n", names)
    chosen = i * 7919 // 13 % 3 == 0
    counts[not chosen] += 1
    (wanted if chosen else other)(names[f"f{i % 977}"])
print(counts)
'''
# The walk does not reach the outermost frames.
DEEP = r'''
import os, sys
def within_deep(n): os.getppid() if n == 0 else within_deep(n - 1)
def begin_of_deep(): within_deep(1500)
sys.setrecursionlimit(5000)
for i in range(int(sys.argv[1])): begin_of_deep()
print([i + 1])
'''
# pattern [, module] -> the calls that it accepts
PATTERNS = {
    '"shop::cart::add"': [0], '"shop::cart::drop"': [1], '"shop::cart::drop(int) const"': [1], '"shop::add"': [2],
    '"shop::inlined_add"': [3], '"shop::*add"': [0, 2, 3], '"*cart*"': [0, 1], '"outer"': [0, 1, 2, 3],
    '"outer", "libc*"': [], '"outer", "has_program"': [0, 1, 2, 3], '"add"': [], '"*"': [0, 1, 2, 3],
}


def strata(*arguments, preload=''):
    done = subprocess.run([STRATA, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                          env=os.environ | {'LD_PRELOAD': str(preload)})
    return done.stdout + done.stderr


def number(text, name):
    found = re.search(rf'^@{name}: (\d+)$', text, re.M)
    return int(found.group(1)) if found else 0


def own_counts(text):
    return json.loads(re.search(r'^\[[\d, ]+\]$', text, re.M).group())


def sum_of(text, pattern):
    return sum(int(n) for n in re.findall(pattern, text, re.M))


def undecided(text):
    return sum_of(text, r'(\d+) events? w\w+ not decided')


def test_patterns(cases, program):
    for pattern, calls in PATTERNS.items():
        seen = strata('-q', '-c', program, '-e', f'''
            uprobe:{program}:leaf_of_has /has_frame(ustack, {pattern})/ {{ @yes = count(); @sum = sum(arg0 + 1); }}
            uprobe:{program}:leaf_of_has /!has_frame(ustack, {pattern})/ {{ @no = count(); }}
            uprobe:{program}:leaf_of_has {{ @has[has_frame(ustack, {pattern})] = count(); }}''')
        own = own_counts(seen)
        yes = sum(own[i] for i in calls)
        has = {key: int(n) for key, n in re.findall(r'^@has\[(\w+)\]: (\d+)$', seen, re.M)}
        cases.check((number(seen, 'yes'), number(seen, 'no')) == (yes, CALLS - yes), f'has_frame(ustack, {pattern})', seen)
        cases.check(number(seen, 'sum') == sum(own[i] * (i + 1) for i in calls), '..with the values of the event', seen)
        cases.check((has.get('true', 0), has.get('false', 0)) == (yes, CALLS - yes), '..as a key', seen)


def test_joined(cases, program):
    seen = strata('-q', '-c', program, '-e', f'''
        uprobe:{program}:leaf_of_has /arg0 == 3 || (has_frame(ustack, "shop::cart::*") && !has_frame(ustack, "*drop*"))/ {{
            @some[arg0] = count(); }}
        uprobe:{program}:leaf_of_has {{
            if (has_frame(ustack, "*cart*")) {{
                @cart[arg0] = count();
                if (has_frame(ustack, "*drop*")) {{ @drop[arg0] = hist(arg0); }} else {{ @add[arg0] = count(); }}
            }} else if (has_frame(ustack, "shop::add")) {{
                @plain[arg0] = stats(arg0);
            }} else {{
                @rest[arg0] = max(7);
            }}
            $kept = has_frame(ustack, "outer");
            if ($kept && arg0 == 2) {{ @kept = count(); }}
        }}''')
    own = own_counts(seen)
    for text in (f'@some[0]: {own[0]}', f'@some[3]: {own[3]}', f'@cart[0]: {own[0]}', f'@cart[1]: {own[1]}',
                 f'@add[0]: {own[0]}', f'@plain[2]: {{ .count = {own[2]}, .average = 2, .total = {2 * own[2]} }}', '@rest[3]: 7',
                 f'@kept: {own[2]}'):
        cases.check(text + '\n' in seen, f'joined and nested: {text}', seen)
    cases.check(re.search(rf'^@drop\[1\]:\n\[1\] +{own[1]} ', seen, re.M), '..a histogram of a held event', seen)
    for wrong in '@some[1]', '@some[2]', '@cart[2]', '@add[1]', '@drop[0]', '@rest[0]':
        cases.check(wrong not in seen, f'..no {wrong}', seen)


def test_printed(cases, program):
    """Output keeps its order, whether it was held or not."""
    seen = strata('-q', '-c', program, '-e', f'''uprobe:{program}:leaf_of_has /has_frame(ustack, "shop::cart::add")/ {{
        @n = count(); printf("%d %llu\\n", arg0, nsecs); }}''')
    lines = re.findall(r'^0 (\d+)$', seen, re.M)
    cases.check(len(lines) == own_counts(seen)[0] == number(seen, 'n'), 'printf() of matching events', seen[-500:])
    cases.check(lines == sorted(lines, key=int), '..in their order', seen[-500:])
    seen = strata('-q', '-c', program, '-e', f'''uprobe:{program}:leaf_of_has /has_frame(ustack, "shop::add")/ {{
        printf("%d\\n", arg0); exit(); }}''')
    cases.check(re.findall(r'^\d$', seen, re.M) == ['2'], 'exit() of the first matching event', seen)


def test_counted(cases, program):
    """What cannot wait is counted."""
    for body in '@m[arg0]++', '@m[0] = arg0; delete(@m, 0)', '@a = count(); if (@a > 3) { @b = count(); }':
        seen = strata('-c', program, '-e', f'''
            uprobe:{program}:leaf_of_has {{ if (has_frame(ustack, "shop::cart::add")) {{ @yes = count(); {body}; }}
                else {{ @no = count(); {body}; }} }}''')
        own = own_counts(seen)
        cases.check(number(seen, 'yes') + number(seen, 'no') + undecided(seen) == CALLS and undecided(seen) > 1,
                    f'{body}: matched, not matched and not decided are all', seen)
        cases.check(number(seen, 'yes') <= own[0] and number(seen, 'no') <= CALLS - own[0], '..and none is wrong', seen)
        cases.check(re.search(r'not decided: at .*has_frame\(ustack, "shop::cart::add"\)', seen), '..the place', seen)
    seen = strata('-c', program, '-e',
                  f'uprobe:{program}:leaf_of_has /has_frame(ustack, "nobody")/ {{ debugf("a false has_frame()"); }}')
    cases.check(undecided(seen) > 0 and '[debugf() cannot wait]' in seen, 'debugf() writes in the kernel', seen)
    cases.check('no events' not in seen, '..events that were not decided are events', seen)


def test_changes(cases, program):
    """What changes something and follows a has_frame() is evaluated only for events that are decided so."""
    add = 'has_frame(ustack, "shop::cart::add")'
    for condition in f'{add} && @n++ < 3', f'!(!{add} || @n++ >= 3)', f'{add} && ({{ @n++; @n }}) <= 3':
        for script in f'/{condition}/ {{ @yes = count(); }}', f'{{ if ({condition}) {{ @yes = count(); }} }}':
            seen = strata('-c', program, '-e', f'uprobe:{program}:leaf_of_has {script}')
            own, n = own_counts(seen)[0], number(seen, 'n')
            cases.check(n <= own <= n + undecided(seen) <= CALLS, f'{script}: ..', seen)
            cases.check(number(seen, 'yes') == min(n, 3), '..its value decides', seen)
    seen = strata('-c', program, '-e', f'''begin {{ @left[1] = 1; }}
        uprobe:{program}:leaf_of_has /!has_frame(ustack, "outer") && delete(@left, 1)/ {{ @yes = count(); }}''')
    cases.check('@left[1]: 1' in seen and number(seen, 'yes') == 0 and '[its condition changes something]' in seen,
                'delete() after a false has_frame()', seen)
    seen = strata('-c', program, '-e', f'''uprobe:{program}:leaf_of_has {{
        let $i = 0; if ({add} && $i++ == 0) {{ @yes = count(); }} @i = sum($i); }}''')
    cases.check(number(seen, 'i') == number(seen, 'yes') <= own_counts(seen)[0] <= number(seen, 'i') + undecided(seen),
                'a variable that a condition changes', seen)


def test_nested(cases, program):
    """A predicate and ifs: eight can wait, of more the events are counted."""
    for ifs in 7, 8, 9:
        nested = ''.join(f'if (has_frame(ustack, "{name}")) {{ ' for name in (['outer', 'main', '*er'] * 3)[:ifs])
        seen = strata('-c', program, '-e', f'''uprobe:{program}:leaf_of_has /has_frame(ustack, "shop::*")/ {{
            {nested} @yes = count(); {"}" * ifs} }}''')
        cases.check(number(seen, 'yes') + undecided(seen) == CALLS and (undecided(seen) == 0) == (ifs == 7),
                    f'a predicate and {ifs} ifs', seen)
        cases.check(('nested too deeply' in seen) == (ifs > 7), '..the reason', seen)


# The kernel has no memory for the program of an update.
FAILS = '''
#include <errno.h>
int bpf_prog_test_run_opts(int fd, void *opts) { return -ENOMEM; }
'''


def test_failed(cases, program):
    """An update that fails is counted at its place."""
    library = program.parent / 'libfails.so'
    subprocess.run(['gcc', '-shared', '-fPIC', '-x', 'c', '-o', library, '-'], input=FAILS, text=True, check=True)
    seen = strata('-c', program, '-e', f'uprobe:{program}:leaf_of_has /has_frame(ustack, "outer")/ {{ @n = count(); }}',
                  preload=library)
    lost = sum_of(seen, r'(\d+) updates? of (?:a )?held events? w\w+ lost: at .*@n = count\(\)')
    cases.check(lost > 0 and number(seen, 'n') + lost == CALLS, 'updates that fail', seen)


def test_macros(cases, program):
    """Conditions in blocks that are values."""
    macro = 'macro under() { let $r = 0; if (has_frame(ustack, "shop::cart::add")) { $r = 1; } $r } '
    for script in '{ @[under()] = count(); }', '/under() == 1/ { @[1] = count(); }', '/({ under() })/ { @[({ under() })] = count(); }':
        seen = strata('-c', program, '-e', f'{macro} uprobe:{program}:leaf_of_has {script}')
        own, yes = own_counts(seen)[0], sum_of(seen, r'^@\[1\]: (\d+)')
        cases.check(yes <= own <= yes + undecided(seen) and 'has statements' in seen, f'a macro decides: {script}', seen)


FLOOD_SCRIPT = '''uprobe:libc:getppid /comm == "python3" && has_frame(ustack, "wanted")/ { @yes = count(); }
    uprobe:libc:getppid /comm == "python3" && !has_frame(pystack, "has_flood.wanted", "*has_flood.py")/ { @no = count(); }
    uprobe:libc:getppid /comm == "python3"/ { if (has_frame(ustack, "f5")) { @five = count(); } else { @rest = count(); } }
    uprobe:libc:getppid /comm == "python3"/ { @has[has_frame(ustack, "wanted")] = count(); }'''


def test_flood(cases, flood):
    n = 20000
    seen = strata('-c', f'/usr/bin/python3 -S -E {flood} {n}', '-e', FLOOD_SCRIPT)
    own = own_counts(seen)
    five = len([i for i in range(n) if i % 977 == 5])
    cases.check([number(seen, 'yes'), number(seen, 'no')] == own, 'a flood of new functions of Python', seen)
    cases.check([number(seen, 'five'), number(seen, 'rest')] == [five, n - five], '..one of them', seen)


STOPPED_SCRIPT = '''uprobe:libc:getppid /comm == "python3"/ {
    if (has_frame(ustack, "wanted")) { @yes = count(); } else { @no = count(); }
    @has[has_frame(ustack, "wanted")] = count(); }'''


def test_deep(cases, deep):
    """A frame that is missing may be any function: what depends on it is not decided, the rest is."""
    n = 300
    begin, within = 'has_frame(ustack, "begin_of_deep")', 'has_frame(ustack, "within_deep")'
    for condition, decided in ((begin, False), (f'!{begin}', False), (within, True), (f'{within} || {begin}', True),
                               (f'{within} && !{begin}', False)):
        seen = strata('-c', f'/usr/bin/python3 -S -E {deep} {n}', '-e', f'''uprobe:libc:getppid /comm == "python3"/ {{
            if ({condition}) {{ @yes = count(); if ({begin}) {{ @inner = count(); }} }} else {{ @no = count(); }} }}''')
        yes, no = number(seen, 'yes'), number(seen, 'no')
        cases.check((yes, no, undecided(seen)) == (n if decided else 0, 0, n), f'missing frames: {condition}', seen)
    seen = strata('--hide', 'python3*', '-c', f'/usr/bin/python3 -S -E {deep} {n}', '-e', f'''uprobe:libc:getppid
        /comm == "python3" && !{begin}/ {{ @no = count(); }}''')
    cases.check('@no' not in seen and undecided(seen) == n, '..with hidden frames', seen)
    # The last two stay undecided; the first is decided in the kernel, as it cannot wait. It ends the run.
    seen = strata('-c', f'/usr/bin/python3 -S -E {deep} 1000000', '-e', f'''interval:s:30 {{ exit(); }}
        uprobe:libc:getppid /comm == "python3" && {within}/ {{ @known++; exit(); }}
        uprobe:libc:getppid /comm == "python3" && {begin}/ {{ @begin = count(); }}
        uprobe:libc:getppid /comm == "python3" && !{begin}/ {{ @not = count(); }}''')
    cases.check(number(seen, 'known') > 0 and '@begin' not in seen and '@not' not in seen, '..one of two patterns is known', seen)


def stopped(flood, n, script, python='/usr/bin/python3'):
    """Returns the program's own counts, and the output."""
    with subprocess.Popen([STRATA, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as tracer:
        begun = tracer.stdout.readline()
        tracer.send_signal(signal.SIGSTOP)
        own = json.loads(subprocess.run([python, '-S', '-E', flood, str(n)], stdout=subprocess.PIPE,
                                        text=True).stdout)
        tracer.send_signal(signal.SIGCONT)
        tracer.send_signal(signal.SIGINT)
        return own, begun + tracer.communicate(timeout=100)[0]


def test_asked(cases, flood):
    """The ring buffer is full of questions about stacks."""
    n = 20000
    python = flood.parent / 'has_asked'  # other programs are called python3, too
    python.symlink_to('/usr/bin/python3')
    own, seen = stopped(flood, n, '''config = { perf_rb_pages = 64 }
        tracepoint:syscalls:sys_enter_getppid /comm == "has_asked" && !has_frame(kstack, "nothing*")/ { @n++; }''', python)
    cases.check(number(seen, 'n') + undecided(seen) == n and 'Lost' not in seen, 'a question is no lost event', f'{own} {seen}')


def test_stopped(cases, flood):
    """strata sleeps while a program runs: the ring buffer is full, and the program unknown."""
    n = 20000
    own, seen = stopped(flood, n, STOPPED_SCRIPT)
    lost = sum_of(seen, r'Lost (\d+) events')
    yes, no = number(seen, 'yes'), number(seen, 'no')
    # Several records of one event may be lost.
    cases.check(yes <= own[0] and no <= own[1] and n - lost - undecided(seen) <= yes + no <= n,
                'strata stopped: none is wrong', f'{own} {seen}')
    all_no = sum_of(seen, r'^@has\[false\]: (\d+)')
    cases.check(all_no >= no, '..as in all stacks', f'{own} {seen}')


def test_messages(cases, program):
    seen = strata('-c', program, '-e', f'uprobe:{program}:leaf_of_has /has_frame(ustack, "shop::cart:add")/ {{ @ = count(); }}')
    cases.check('has_frame() looked for shop::cart:add, but no frame has that name' in seen and 'did you mean shop::cart::add' in seen,
                'the nearest name', seen)
    for expression, message in {
            '$x = has_frame(ustack, "f") ? 1 : 2': 'decide only in a predicate', 'has_frame(pid, "f")': 'frames of a stack',
            '$x = has_frame(ustack, "f") == 1': 'is a condition', '$x = has_frame(ustack(-3), "f")': 'negative limit',
            '$x = has_frame(ustack, comm)': 'a string in quotes', '$x = has_frame(ustack, "f").func': 'has no fields',
            'while (has_frame(ustack, "f")) { @ = count(); }': 'decide only in a predicate',
            'if (' + ' || '.join(f'has_frame(ustack, "f{i}")' for i in range(7)) + ') { @ = count(); }': 'at most 6',
            ' '.join(f'if (has_frame(ustack, "f{i}")) {{ @ = count(); }}' for i in range(14)): 'at most 13'}.items():
        seen = strata('-e', f'begin {{ {expression} }}')
        cases.check(message in seen, f'{expression[:60]}: {message}', seen)


def test_tool(cases, flood):
    seen = strata('cpu', '--hz', '999', '--under', 'has_flood.wanted', '-f', 'folded', '-c',
                  f'/usr/bin/python3 -S -E {flood} 200000')
    lines = re.findall(r'^.*;.* \d+$', seen, re.M)
    cases.check(lines and all('wanted' in line for line in lines), 'strata cpu --under', seen[-2000:])


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        program, flood, deep = (directory / f'has_{name}' for name in ('program', 'flood.py', 'deep.py'))
        (directory / 'program.cc').write_text(PROGRAM)
        flood.write_text(FLOOD)
        deep.write_text(DEEP)
        subprocess.run(['g++', '-O1', '-g', '-o', program, directory / 'program.cc'], check=True)
        test_patterns(cases, program)
        test_joined(cases, program)
        test_printed(cases, program)
        test_counted(cases, program)
        test_changes(cases, program)
        test_nested(cases, program)
        test_failed(cases, program)
        test_macros(cases, program)
        test_messages(cases, program)
        test_flood(cases, flood)
        test_stopped(cases, flood)
        test_deep(cases, deep)
        test_asked(cases, flood)
        test_tool(cases, flood)
    return cases.done()


sys.exit(main())
