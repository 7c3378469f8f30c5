#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""poor.py STRATA - environments that lack something: memory, files, file systems, rights. Scripts work there, or end with
an error that names the cause. They never end by a signal or without a message, and never hang. Prints TAP."""
import concurrent.futures
import errno
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
import waits
from absent import all_fail

STRATA = os.path.realpath(sys.argv[1])
ONLY = sys.argv[2:]
SECONDS = 30
# The kernel makes no private mounts for a process whose root is not a mount point, as in a chroot.
NAMESPACE = ['unshare', '-m']
HAS_MOUNTS = subprocess.run([*NAMESPACE, 'true'], stderr=subprocess.DEVNULL).returncode == 0

SCRIPTS = {
    'a line': ['-e', 'begin { printf("it %s\\n", "works"); exit() }'],
    'stacks': ['-e', 'profile:hz:99 { @[ustack, kstack] = count(); } interval:ms:200 { printf("it works\\n"); exit() }'],
    'a command': ['-c', '/bin/true', '-e', 'tracepoint:sched:sched_process_exit { printf("it works\\n"); exit() }'],
}

NO_MEMORY = r'out of memory'
NO_FILES = r'ulimit -n'
NO_SPACE = r'ulimit -f'


def limits(letter, values, cause):
    return [(f'ulimit -{letter} {value}', f'ulimit -{letter} {value}', cause) for value in values]


def over(*paths):
    return '; '.join(f'mount -t tmpfs none {path}' for path in paths)


def group(size):
    """Returns a row with its own control group, of version 1 or 2. The row is skipped without such a controller."""
    top = next((top for top, limit in (('/sys/fs/cgroup/memory', 'memory.limit_in_bytes'), ('/sys/fs/cgroup', 'memory.max'))
                if os.path.exists(f'{top}/{limit}') or 'memory' in read(f'{top}/cgroup.subtree_control')), None)
    limit = 'memory.limit_in_bytes' if top and top.endswith('memory') else 'memory.max'
    here = f'{top}/strata-poor-{size}-$$'
    return (f'a memory cgroup of {size}', f'''mkdir {here} && echo {size} > {here}/{limit} && echo $$ > {here}/cgroup.procs || exit 99
        "$@"; status=$?; echo $$ > {top}/cgroup.procs; exit $status''' if top else None, NO_MEMORY)


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ''


# The obstacle, the shell commands that make it, and the cause in the error. The program's file takes 40,000 KiB of -v.
ROWS = [
    *limits('v', (45000, 60000, 100000, 150000, 200000, 300000, 450000, 1000000), NO_MEMORY),
    *limits('d', (20000, 100000), NO_MEMORY),
    *limits('n', (4, 6, 10, 20, 26, 40, 64), NO_FILES),
    *limits('l', (0, 64), r'ulimit -l'),
    *limits('f', (0, 100, 1000), NO_SPACE),
    *limits('s', (128,), r'stack'),
    ('no /proc', over('/proc'), r'/proc is not mounted'),
    ('no /sys', over('/sys'), r'/sys is not mounted'),
    ('no tracefs', over('/sys/kernel/tracing', '/sys/kernel/debug'), r'tracefs is not mounted'),
    ('no types of the kernel', over('/sys/kernel/btf'), r'BTF'),
    ('no /dev', over('/dev'), r'/dev'),
    ('no /run and /var', over('/run', '/var'), r'/var'),
    ('a read-only root', 'mount -o remount,ro,bind /', r'read-only'),
    ('a read-only /sys', 'mount -o remount,ro,bind /sys', r'read-only'),
    ('an empty environment', 'exec env -i "$@"', r'environment'),
    ('a home that is a file', 'export HOME=/etc/passwd STRATA_CACHE_DIR=/etc/passwd', r'/etc/passwd'),
    ('a directory that is gone', 'mkdir /tmp/gone.$$; cd /tmp/gone.$$; rmdir /tmp/gone.$$', r'directory'),
    ('no standard input', 'exec <&-', r'input'),
    ('no standard output', 'exec >&-', r'cannot write to the standard output'),
    ('a full output', 'exec >/dev/full', r'no space is left'),
    ('another user', 'exec setpriv --reuid 65534 --clear-groups "$@"', r'needs root|closed to this user'),
    ('no capabilities', 'exec setpriv --bounding-set -all "$@"', r'CAP_BPF'),
    *(group(size) for size in ('4M', '16M', '64M', '256M')),
]


def run(row, script):
    """Returns the failure, or None."""
    what, setup, cause = row
    command = [*(NAMESPACE if HAS_MOUNTS else []), 'bash', '-c', f'ulimit -c 0; {setup}\nexec "$@"', 'bash', STRATA,
               *SCRIPTS[script]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors='replace', timeout=SECONDS)
    except subprocess.TimeoutExpired as e:
        return f'it hangs: {e.stdout} {e.stderr}'
    if done.returncode == 0:
        return None if 'it works' in done.stdout else f'status 0, but nothing was printed: {done.stderr}'
    if done.returncode != 1:
        return f'status {done.returncode}: {done.stderr}'
    if not re.search(r'error: .*(' + cause + ')', done.stderr):
        return f'no error says {cause}: {done.stderr}'
    return None


def is_removed(group):
    """Removes the group, and returns whether it is gone. The kernel refuses with EBUSY while an ended process is in it."""
    try:
        group.rmdir()
    except OSError as e:
        if e.errno != errno.EBUSY:
            raise
        return False
    return True


def remove(group):
    """Removes a control group when the last process has left it: one that was killed for lack of memory is still in it
    until the kernel has freed its memory."""
    waits.until(lambda: not read(group / 'cgroup.procs').strip(), f'the processes of {group} to end')
    waits.until(lambda: is_removed(group), f'the kernel to let go of {group}')


def lacking(setup):
    """Why a row cannot run here, or None."""
    if not setup:
        return 'there is no memory controller'
    return None if HAS_MOUNTS or 'mount ' not in setup else 'no mount namespace can be made here'


def main():
    cases = tap.Cases()
    rows = [row for row in ROWS if not ONLY or any(word in row[0] for word in ONLY)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {(row[0], script): pool.submit(run, row, script) for row in rows if not lacking(row[1]) for script in SCRIPTS}
        for row in rows:
            for script in SCRIPTS:
                if lacking(row[1]):
                    cases.skip(f'{row[0]}: {script}', lacking(row[1]))
                    continue
                wrong = runs[row[0], script].result()
                cases.check(not wrong, f'{row[0]}: {script}', wrong)
    for left in [*pathlib.Path('/sys/fs/cgroup').glob('strata-poor-*'), *pathlib.Path('/sys/fs/cgroup/memory').glob('strata-poor-*')]:
        remove(left)
    return cases.done()


if os.geteuid():
    sys.exit(all_fail('needs root'))
sys.exit(main())
