#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""core.py - cores of a program that aborts below ld.so (aborts.c), made by the kernel and by gcore: strata --unwind
walks through ld.so to the program's first frame.

    core.py STRATA PROGRAM LIBRARY      LIBRARY: the library that the program opens"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, PROGRAM, LIBRARY = (os.path.abspath(path) for path in sys.argv[1:])
# The frames that must appear, in this order; those of ld.so may have no names. The first frame of a program is
# _start; before that it is ld.so's own first frame.
WANTED = {
    'start': ['abort_if', 'initialize'],
    'open': ['abort_if', 'initialize', 'dlopen', 'opener', 'main', '_start'],
    'bind': ['abort_if', 'caller', 'main', '_start'],
}
PATTERN = pathlib.Path('/proc/sys/kernel/core_pattern').read_text().strip()
cases = Cases()


def limit():
    """Returns the largest allowed size of cores. sudo forbids cores; root may raise the limit, except in a
    container without CAP_SYS_RESOURCE."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (PermissionError, ValueError):
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    return resource.getrlimit(resource.RLIMIT_CORE)[0]


def by_kernel(what, directory):
    subprocess.run([PROGRAM, LIBRARY], cwd=directory, env={**os.environ, 'ABORTS': what})


def by_gdb(what, directory):
    subprocess.run(['gdb', '-q', '-batch', '-ex', f'set environment ABORTS {what}', '-ex', 'set startup-with-shell off',
                    '-ex', 'run', '-ex', 'gcore core', '--args', PROGRAM, LIBRARY], cwd=directory, capture_output=True)


def frames(directory):
    core = next(directory.glob('core*'), None)
    if not core:
        return ['no core was written']
    out = subprocess.run([STRATA, '--unwind', core], capture_output=True, text=True, timeout=60)
    lines = [line for line in (out.stdout + out.stderr).splitlines() if line and not line.startswith(('Process ', 'Thread '))]
    return [line.split()[0].split('+')[0].split('.')[0] for line in lines]


def check(maker, dump):
    for what, wanted in WANTED.items():
        with tempfile.TemporaryDirectory() as directory:
            dump(what, directory)
            seen = frames(pathlib.Path(directory))
        cases.check([name for name in seen if name in wanted] == wanted and not any('[' in name for name in seen) and
                    seen[-1] not in wanted[:2], f'{maker}: {what}', seen)


if '|' in PATTERN or '/' in PATTERN:
    cases.skip('the kernel\'s', f'it writes no core where the program runs, but to {PATTERN}')
elif not limit():
    cases.skip('the kernel\'s', 'the limit of this process allows no cores, and cannot be raised')
else:
    check('the kernel\'s', by_kernel)
if shutil.which('gdb'):
    check('gcore\'s', by_gdb)
else:
    cases.skip('gcore\'s', 'there is no gdb')
sys.exit(cases.done())
