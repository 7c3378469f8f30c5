#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tutorial.py STRATA - the lessons of bpftrace's one-liner tutorial, unchanged. Lessons with kprobes are only
loaded if the kernel has no kprobes, otherwise they run. Prints TAP."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import as_root
from features import features

STRATA = os.path.realpath(sys.argv[1])
# A load that reads, opens files, writes to the disk and uses the CPU while a lesson runs, at most as long as the test.
LOAD = ('while kill -0 $PPID; do cat /etc/passwd >/dev/null; dd if=/dev/zero of=disk bs=64k count=2 conv=fsync 2>/dev/null;'
        ' i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; done')

LESSONS = [
    ('1. listing', ['-l', 'tracepoint:syscalls:sys_enter_*'], r'(?m)^tracepoint:syscalls:sys_enter_openat$'),
    ('2. hello world', 'BEGIN { printf("hello world\\n"); }', r'(?m)^hello world$'),
    ('3. opens', 'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args.filename)); }',
     r'(?m)^cat /etc/\S+$'),
    ('3. opens, as written before 0.17',
     'tracepoint:syscalls:sys_enter_openat { printf("%s %s\\n", comm, str(args->filename)); }', r'(?m)^cat /etc/\S+$'),
    ('4. system calls by process', 'tracepoint:raw_syscalls:sys_enter { @[comm] = count(); }', r'(?m)^@\[cat\]: \d+$'),
    ('5. sizes of reads', 'tracepoint:syscalls:sys_exit_read /pid == {pid}/ { @bytes = hist(args.ret); }',
     r'(?m)^@bytes: ?$'),
    ('6. sizes of reads, by kretprobe', 'kretprobe:vfs_read { @bytes = lhist(retval, 0, 2000, 200); }',
     r'(?m)^\[0, 200\) +\d+ \|@'),
    ('7. times of reads', 'kprobe:vfs_read { @start[tid] = nsecs; } kretprobe:vfs_read /@start[tid]/ '
     '{ @ns[comm] = hist(nsecs - @start[tid]); delete(@start, tid); }', r'(?m)^@ns\[cat\]: ?$'),
    ('7. with the old delete()', 'kprobe:vfs_read { @start[tid] = nsecs; } kretprobe:vfs_read /@start[tid]/ '
     '{ @ns[comm] = hist(nsecs - @start[tid]); delete(@start[tid]); }', r'(?m)^@ns\[cat\]: ?$'),
    ('8. events of the scheduler', 'tracepoint:sched:sched* { @[probe] = count(); } interval:s:2 { exit(); }',
     r'(?m)^@\[tracepoint:sched:sched_switch\]: \d+$'),
    ('9. stacks of the kernel', 'profile:hz:99 { @[kstack] = count(); }', r'(?m)^@\[\n( {8}\S.*\n)+\]: \d+$'),
    ('10. who leaves the processor', 'tracepoint:sched:sched_switch { @[kstack] = count(); }', r'(?m)^ +__schedule\+\d+'),
    ('11. sizes of disk requests', 'tracepoint:block:block_rq_issue { @ = hist(args.bytes); }', r'(?m)^@: ?\n\['),
    ('12. structs of the kernel', '#include <linux/path.h>\n#include <linux/dcache.h>\n\nkprobe:vfs_open\n{\n'
     '\tprintf("open path: %s\\n", str(((struct path *)arg0)->dentry->d_name.name));\n}\n', r'(?m)^open path: passwd$'),
]


def run(args):
    """Runs a lesson, and stops it if it does not end. Attaching to 25 tracepoints once took two seconds, on a busy machine."""
    seconds = '60' if 'exit()' in args[-1] else '8' if os.environ.get('STRATA_SLOW') else '2.5'
    return subprocess.run(['timeout', '-s', 'INT', '-k', '60', seconds, STRATA, *args], capture_output=True, text=True,
                          errors='replace')


def lesson(cases, dir, name, what, wanted, attaches):
    script = what if isinstance(what, str) else ''
    # An emulated kernel crashes if a kprobe is placed in code that the other CPU runs all the time.
    reader = subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=512'] if '{pid}' in script else ['sleep', '60'],
                              stderr=subprocess.DEVNULL, start_new_session=True)
    shell = subprocess.Popen(['sh', '-c', LOAD], cwd=dir, start_new_session=True)
    if '#include' in script:
        (dir / 'lesson.bt').write_text(script)
        args = [str(dir / 'lesson.bt')]
    else:
        args = ['-e', script.replace('{pid}', str(reader.pid))] if script else what
    if 'probe:vfs' in script and not attaches:
        done = run(['--dry-run', *args])
        cases.check(done.returncode == 0, f'{name}: loads, on a kernel without kprobes', done)
    else:
        done = run(args)
        cases.check(re.search(wanted, done.stdout) and 'error' not in done.stderr, name, done.stdout[-1500:],
                    done.stderr)
    for process in (reader, shell):
        os.killpg(process.pid, signal.SIGKILL)  # dd writes to the directory, which is removed
        process.wait()


def main():
    cases = tap.Cases()
    attaches = 'kprobe' in features(STRATA)
    few = os.environ.get('STRATA_FEW') # lessons that the host cannot run
    with tempfile.TemporaryDirectory(dir='.' if os.access('.', os.W_OK) else None) as made:
        for name, what, wanted in LESSONS:
            if few and 'probe:vfs' not in what:
                continue
            lesson(cases, pathlib.Path(made), name, what, wanted, attaches)
    return cases.done()


sys.exit(as_root(main))
