#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stripped.py - runs account.py on nodes with fewer symbols: stripped ones, and Debian's, whose V8
is in a separate library (run in its own root).

    stripped.py STRATA [STACKS [DEEPEST]]      root"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import account
import binaries
import traced
import waits
from absent import Missing, as_root, tap_fails

HERE = pathlib.Path(__file__).resolve().parent
STRIPPED = ('22', '26')
OPTIONS = [(), ('--always-sparkplug',)]


def when_known(strata, *command):
    """Starts the program, and waits until it has begun, since the loader links Debian's node slowly. Then strata makes the
    tables of the program for the first time."""
    process = traced.start(*command)
    waits.reading(process.pid)
    subprocess.run([strata, '--unwind', str(process.pid)], stdout=subprocess.DEVNULL, check=True, timeout=60)
    return process


def programs(directory):
    """(name, command) or (name, Missing)"""
    for version in STRIPPED:
        try:
            to = pathlib.Path(directory, f'node-{version}')
            subprocess.run(['strip', '-o', to, binaries.node(version)], check=True)
            yield f'node {version}, stripped', [to]
        except Missing as why:
            yield f'node {version}, stripped', why
    try:
        root = binaries.libnode()
        scripts = root / HERE.relative_to('/')
        scripts.mkdir(parents=True, exist_ok=True)
        for path in [*HERE.glob('*.js'), *HERE.glob('*.mjs')]:
            shutil.copy2(path, scripts)
        yield "Debian's libnode", ['chroot', str(root), '/usr/bin/node']
    except Missing as why:
        yield "Debian's libnode", why


def main(strata, count=60, deepest=200):
    failed, n = False, 0
    print(f'1..{(len(STRIPPED) + 1) * len(OPTIONS)}')
    with tempfile.TemporaryDirectory() as directory:
        for name, command in programs(directory):
            for options in OPTIONS:
                n += 1
                if isinstance(command, Missing):
                    failed |= tap_fails(n, name, command)
                    continue
                bad = account.main(strata, command[0], count, deepest, *command[1:], *options, start=when_known)
                print(f"{'not ok' if bad else 'ok'} {n} - {' '.join((name, *options))}", flush=True)
                failed |= bool(bad)
    return failed


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
