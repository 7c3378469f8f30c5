#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py STRATA - tests -l on this kernel: wildcards in every field, each type of probe, arguments, time."""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap

STRATA = sys.argv[1]
if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = tap.Cases()
SLOW = int(os.environ.get('STRATA_SLOW', 1)) # an emulated machine
INFO = subprocess.run([STRATA, '--info'], capture_output=True, text=True).stdout


def has(feature):
    return any(line.split()[:2] == [feature, 'yes'] for line in INFO.splitlines())


def run(*args):
    """(lines, messages, exit code)"""
    done = subprocess.run([STRATA, *args], capture_output=True, text=True, timeout=20 * SLOW)
    return done.stdout.splitlines(), done.stderr, done.returncode


def seconds(*args):
    """Returns the least CPU time of three runs, so that other processes have little effect."""
    took = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(*args)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(took)


def lists(pattern, *wanted, only=''):
    """Checks that each name is listed, and that every line begins with ONLY."""
    names, said, code = run('-l', pattern)
    missing = [name for name in wanted if name not in names]
    others = [name for name in names if not name.startswith(only)]
    cases.check(code == 0 and names and not missing and not others, f'-l {pattern}',
                f'missing: {missing}', f'others: {others[:5]}', said, f'exit {code}')
    return names, said


events, _ = lists('tracepoint:*', 'tracepoint:sched:sched_switch', 'tracepoint:syscalls:sys_enter_openat',
                  only='tracepoint:')
lists('t:*', *events[:3], only='tracepoint:')
for name in ('', '..', 'enable', 'sched_switch/..'):
    names, said, code = run('-l', f'tracepoint:sched:{name}')
    cases.check(code == 1 and not names, f'{name} is not a tracepoint', *names, said)
lists('tracepoint:sched', 'tracepoint:sched:sched_switch', only='tracepoint:sched:')
lists('tracepoint:sch*:*swit*', 'tracepoint:sched:sched_switch', only='tracepoint:sch')
lists('tracepoint:*:*openat', 'tracepoint:syscalls:sys_exit_openat', only='tracepoint:')
lists('trace*:sched:*', 'tracepoint:sched:sched_switch', only='tracepoint:')
lists('rawtracepoint:sched_s*', 'rawtracepoint:vmlinux:sched_switch', only='rawtracepoint:vmlinux:sched_s')
lists('*:sched_switch', 'rawtracepoint:vmlinux:sched_switch')
lists('kprobe:vfs_re*', 'kprobe:vfs_read', only='kprobe:vfs_re')
lists('kretprobe:vfs_re*', 'kretprobe:vfs_read', only='kretprobe:vfs_re')
lists('fentry:vfs_re*', 'fentry:vmlinux:vfs_read', only='fentry:vmlinux:vfs_re')
lists('fexit:vmlin*:vfs_re*', 'fexit:vmlinux:vfs_read', only='fexit:vmlinux:vfs_re')
if has('kprobe'):
    lists('k*:vfs_read', 'kprobe:vfs_read', 'kretprobe:vfs_read')
    lists('vfs_re*', 'kprobe:vfs_read', only='kprobe:vfs_re')
lists('uprobe:libc:mallo*', only='uprobe:/')
lists('sched:*switch', 'tracepoint:sched:sched_switch', only='tracepoint:sched:')
lists('uprobe:libc', only='uprobe:/')
names, _ = lists('u*:libc:mallo*', only='u')
cases.check({name.split(':')[0] for name in names} == {'uprobe', 'uretprobe'}, 'both types of functions of files', *names)
lists('openat', 'tracepoint:syscalls:sys_enter_openat')

# Types of the kernel in C; -vv adds the offsets of their members.
if os.path.exists('/sys/kernel/btf/vmlinux'):
    lists('struct list_h*', 'struct list_head', only='struct list_h')
    lists('enum pid_typ*', 'enum pid_type', only='enum ')
    names, said, code = run('-lv', 'struct list_head')
    cases.check(names[:4] == ['vmlinux: struct list_head {', '\tstruct list_head *next;', '\tstruct list_head *prev;',
                              '};'], 'a struct in C', *names)
    names, said, code = run('-lvv', 'union sigval')
    cases.check('\tvoid *sival_ptr; /* 0 8 */' in names and '}; /* size: 8 */' in names, 'offsets and sizes', *names)
    names, said, code = run('-lvv', 'struct task_struct')
    cases.check(any(line.startswith('\tchar comm[16]; /* ') for line in names), 'an array', *names[:5])
    names, said, code = run('-l', 'struct task_strct')
    cases.check(code == 1 and not names and 'did you mean struct task_struct?' in said, 'the nearest name', said)
    names, said, code = run('-lv', 'rawtracepoint:sched_switch')
    cases.check('    struct task_struct * prev' in names, 'arguments of a raw tracepoint', *names)
    names, said, code = run('-lv', 'fexit:vfs_read')
    cases.check('    struct file * file' in names and '    ssize_t retval' in names, 'those of fexit, and its result',
                *names)
names, said, code = run('-lv', 'tracepoint:sched:sched_switch')
cases.check('    char prev_comm[16]' in names and '    pid_t prev_pid' in names, 'fields of a tracepoint', *names)

# Probes that this kernel cannot attach to: listed only if their type is given, with a message.
names, said, code = run('-l', 'kprobe:vfs_read')
cases.check(('no kprobes' in said) != has('kprobe'), 'kprobes are said to be missing where they are', said)
names, said, code = run('-l', 'vfs_read')
cases.check(('kprobe:vfs_read' in names) == has('kprobe'), 'a search lists only possible probes', *names)
names, said, code = run('-l', '--no-feature', 'kprobe', 'kprobe:vfs_read')
cases.check(names == ['kprobe:vfs_read'] and 'no kprobes' in said, 'as without kprobes', *names, said)
names, said, code = run('-l', '--no-feature', 'kprobe', '--no-feature', 'fentry', 'fentry:vfs_read')
cases.check(names == ['fentry:vmlinux:vfs_read'] and 'trampolines' in said, 'as without trampolines',
            *names, said)

# Arguments.
names, said, code = run('-lv', 'tracepoint:sched:sched_switch')
cases.check('    int32 prev_pid' in names or any('prev_pid' in name for name in names),
            '-lv shows the arguments of a tracepoint', *names, said)
names, said, code = run('-lv', 'fentry:vfs_read')
cases.check(any('file' in name for name in names[1:]), '-lv shows the arguments of a function', *names, said)

# Types with few names; several patterns; quotes.
lists('interval:*', 'interval:hz:', 'interval:ms:', 'interval:s:', 'interval:us:', only='interval:')
lists('p:m*', 'profile:ms:', only='profile:ms:')
lists('interval:s:5', 'interval:s:5')
names, _ = lists('interval:hz:,tracepoint:sched:sched_switch, profile:s:')
cases.check(names == ['interval:hz:', 'tracepoint:sched:sched_switch', 'profile:s:'], 'in the order of the patterns',
            *names)
lists('*:sched_switch', 'tracepoint:sched:sched_switch')
names, _ = lists('tracepoint:*')
cases.check(not any(name.startswith('tracepoint:ftrace:') for name in names), 'no formats of ftrace itself')
with tempfile.TemporaryDirectory() as dir:
    odd = os.path.join(dir, 'a:b,c')
    shutil.copy(STRATA, odd)
    names, said, code = run('-l', f'uprobe:"{odd}":main,interval:s:')
    cases.check(names == [f'uprobe:{odd}:main', 'interval:s:'], 'a path with a colon and a comma, in quotes', *names, said)
    names, said, code = run('-l', f'uprobe:"{odd}":m*')
    cases.check(names == sorted(names) and f'uprobe:{odd}:main' in names, 'by name', *names, said)
    listed = os.path.join(dir, 'functions')
    pathlib.Path(listed).write_text('vfs_read\nno_such_function\nvfs_write [ext4]\n')
    names, said, code = run('-l', '--traceable-functions', listed, 'kprobe:vfs_*')
    cases.check(names == ['kprobe:vfs_read', 'kprobe:vfs_write'], 'functions by a file', *names, said)
    names, said, code = run('-l', '--traceable-functions', os.path.join(dir, 'none'), 'kprobe:vfs_*')
    cases.check(code == 1 and 'cannot read' in said, 'no such file', said)

# Probes of a script, and of a process.
names, said, code = run('-l', '-e', 'begin { } t:sched:sched_sw* { } i:ms:10 { } profile:1ms { } end { }')
cases.check(code == 0 and names[-2:] == ['interval:ms:10', 'profile:us:1000'] and 'tracepoint:sched:sched_switch' in names,
            '-l -e', *names, said)
names, said, code = run('-lv', '-e', 'tracepoint:sched:sched_switch { }')
cases.check(names == run('-lv', 'tracepoint:sched:sched_switch')[0], '-lv -e is as -lv', *names, said)
process = subprocess.Popen(['/usr/bin/python3', '-uc', 'print(); input()'], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
process.stdout.read(1)
names, said, code = run('-l', '-p', str(process.pid), '*malloc*')
cases.check(any(name.endswith('libc.so.6:malloc') for name in names), "a process' functions are searched", *names[:5], said)
names, said, code = run('-l', '-p', str(process.pid))
cases.check(any(name.startswith('uprobe:') for name in names), "all of a process' functions", *names[:5], said)
process.communicate(b'\n')

# --probe-filter chooses.
for args in (['tracepoint:sched:*'], ['-e', 'tracepoint:sched:* { }']):
    names, said, code = run('-l', '--probe-filter', ':sched_(switch|waking)$', *args)
    cases.check(names == ['tracepoint:sched:sched_switch', 'tracepoint:sched:sched_waking'], 'a filter', *names, said)
names, said, code = run('-l', '--probe-filter', r'sys_enter_epoll_create\d$', 'tracepoint:*')
cases.check(names == ['tracepoint:syscalls:sys_enter_epoll_create1'], 'a digit', *names, said)
names, said, code = run('-q', '--probe-filter', 'interval:ms', '-e',
                        'begin { print(1) } i:ms:10 { print(2); exit() } i:us:100 { print(3) } end { print(4) }')
cases.check([name for name in names if name] == ['1', '2', '4'], 'a filter of probes', *names, said)
names, said, code = run('--probe-filter', 'nothing', '-e', 'i:ms:1 { exit() }')
cases.check(code == 1 and 'none that exists here matches --probe-filter' in said, 'nothing is left', said)
names, said, code = run('--probe-filter', '(', '-e', 'begin { }')
cases.check(code == 1 and 'not a regular expression: (' in said, 'an invalid filter', said)

# Time: CPU seconds, on any machine that is not emulated.
for limit, *args in ((1, '-l', 'fentry:*'), (1, '-l', 'kprobe:*'), (1, '-l', 'tracepoint:*'), (1, '-l'),
                     (5, '-lv', 'fentry:*'), (10, '-lv')):
    took = seconds(*args)
    cases.check(took < limit * SLOW, f"{' '.join(args)} takes less than {limit} s of CPU", f'{took:.2f} s')
sys.exit(cases.done())
