#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""toolchains.py - unpacks Go's toolchains of Debian's suites in build/go (or in STRATA_GO), and builds
programs with them.

    toolchains.py VERSION...      unpacks these toolchains, and prints the GOROOT of each"""
import fcntl
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_GO', TOP / 'build' / 'go'))
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
import packages

SUITES = {'1.19': 'bookworm', '1.23': 'bookworm-backports', '1.24': 'trixie', '1.27': 'sid'}


def goroot(version):
    """Returns the toolchain's directory; the first call unpacks it."""
    root = CACHE / version
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.exists():
            print(f'go: unpacking {version} (once)', file=sys.stderr)
            new = CACHE / f'{version}.new'
            packages.unpack(CACHE, SUITES[version], 'amd64', new,
                            [f'golang-{version}-go', f'golang-{version}-src'])
            new.rename(root)
    return root / 'usr' / 'lib' / f'go-{version}'


def build(version, program, sources, cgo=False, arch='amd64', flags=(), env={}):
    """Builds program (a path) from these sources; files that are not Go are embedded."""
    root = goroot(version)
    env = dict(os.environ, GOROOT=str(root), GOTOOLCHAIN='local', GOFLAGS='-mod=mod', GOARCH=arch,
               GOCACHE=str(CACHE / f'cache-{version}'), CGO_ENABLED=str(int(cgo)), **env)
    if arch == 'arm64':
        env['CC'] = 'aarch64-linux-gnu-gcc'
    pathlib.Path(program).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([root / 'bin' / 'go', 'build', '-o', str(program), *flags,
                    *(str(s) for s in sources if s.suffix == '.go')],
                   env=env, check=True)


def program(name, version, sources, arch, **options):
    """Returns the path of the program; builds it if it is older than its sources."""
    path = CACHE / 'programs' / f'{name}-{arch}'
    if not path.exists() or path.stat().st_mtime < max(s.stat().st_mtime for s in sources):
        build(version, path, sources, arch=arch, **options)
    return path


if __name__ == '__main__':
    for wanted in sys.argv[1:] or SUITES:
        print(goroot(wanted))
