#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""owner.py - ./dev as root in another user's tree: that user owns the built files and can build again;
./dev also gives back files that an older version left to root. Uses stand-ins for the package manager,
meson and ninja."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
from absent import as_root
from tap import Cases

USER = 65534
FAKES = {
    'sudo': 'echo "sudo: not allowed" >&2; exit 1',
    'dpkg-query': 'echo installed',
    'rpm': 'exit 0',
    'pkg-config': 'exit 0',
    'meson': 'mkdir -p "$2" && : >"$2/build.ninja" && echo configured',
    'ninja': r'''mkdir -p "$2/src" && rm -f "$2/src/strata" && echo "[1/2] one" && echo "[2/2] two" &&
printf '#!/bin/sh\nid -u\n' >"$2/src/strata" && chmod +x "$2/src/strata"''',
}


def tree(top):
    """Makes a clone that USER owns, and the stand-ins."""
    stand_ins(top, FAKES)
    for path in (top, top / 'dev'):
        os.chown(path, USER, USER)


def stand_ins(top, fakes):
    shutil.copy(TOP / 'dev', top / 'dev')
    (top / 'bin').mkdir()
    for name, text in fakes.items():
        path = top / 'bin' / name
        path.write_text(f'#!/bin/sh\n{text}\n')
        path.chmod(0o755)


def dev(top, user, *args):
    env = {'PATH': f'{top}/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'SUDO_USER': 'nobody'}
    return subprocess.run([top / 'dev', *args], env=env, user=user, group=user, extra_groups=[], capture_output=True,
                          text=True)


def of_roots(top):
    return [str(p) for p in (top / 'build').rglob('*') if p.lstat().st_uid == 0]


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        top = pathlib.Path(directory) / 'tree'
        top.mkdir()
        tree(top)
        done = dev(top, 0, 'run')
        cases.check(done.stdout == '0\n', 'run as root runs strata as root', done.stdout, done.stderr)
        cases.check(not of_roots(top), 'the user owns the build', *of_roots(top))
        done = dev(top, USER, 'build')
        cases.check(done.returncode == 0, 'who can build it again', done.stderr)
        for path in (top / 'build', *(top / 'build').rglob('*')):
            os.chown(path, 0, 0)
        done = dev(top, USER, 'build')
        cases.check(done.returncode != 0 and ('root is needed' in done.stderr or 'sudo' in done.stderr),
                    'it refuses files of root, with the reason', done.stderr)
        done = dev(top, 0, 'build')
        cases.check(done.returncode == 0 and not of_roots(top), 'which the next run as root gives back',
                    done.stderr, *of_roots(top))
        cases.check('build/release: 2 of 2' not in done.stderr, 'two steps need no progress', done.stderr)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(main))
