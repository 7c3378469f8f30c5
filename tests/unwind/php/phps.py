#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""phps.py - the PHPs of tests, in build/php (or in STRATA_PHP): Debian's, each in a tree of packages with
all dependencies, which is the root of its processes; and builds of others, from npm.

    phps.py                 prints the names of all
    phps.py NAME...         unpacks these if necessary, and prints the program of each

The program execs that PHP, so the process ID stays the same."""
import fcntl
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_PHP', TOP / 'build' / 'php'))
sys.path[:0] = [str(TOP / 'tests' / name) for name in ('lib', 'pythons', 'unwind/v8')]
import absent
import binaries
import packages
import pythons
from absent import Missing

# Debian's suite of each minor version.
DEBIAN = {'7.4': 'bullseye', '8.2': 'bookworm', '8.4': 'trixie', '8.4-sid': 'sid'}

# Packages of others, from npm.
NPM = {'8.3': '@libphp/amazon-linux-2-v83', '8.5': '@libphp/almalinux-9-v85'}

# Debian's PHPs of arm64, which do not run here; tests read their files.
ARM64 = {'8.2-arm64': 'bookworm', '8.4-arm64': 'trixie'}

# The versions that Debian's mirrors will have for some years.
LASTING = ['8.2', '8.4', *ARM64]

# The modes of opcache in which PHP runs. Since 8.5 opcache is built in.
MODES = {
    'plain': ['opcache.enable_cli=0'],
    'opcache': ['opcache.enable_cli=1', 'opcache.jit_buffer_size=0'],
    'function': ['opcache.enable_cli=1', 'opcache.jit_buffer_size=64M', 'opcache.jit=function'],
    'tracing': ['opcache.enable_cli=1', 'opcache.jit_buffer_size=64M', 'opcache.jit=tracing'],
}

WRAPPER = """#!/bin/sh
LD_LIBRARY_PATH={tree}/lib exec {tree}/php/php "$@"
"""


def names():
    return [*DEBIAN, *NPM]


def modes(name):
    """Returns the modes of a version: the JIT came with 8.0."""
    return ['plain', 'opcache'] if name.startswith('7.') else list(MODES)


def from_debian(directory, name):
    version = name.split('-')[0]
    pythons.CACHE = CACHE
    pythons.unpack(directory, DEBIAN[name], [f'php{version}-cli', f'php{version}-opcache'])
    pythons.enter(directory, f'/usr/bin/php{version}')
    (directory / 'python').rename(directory / 'php')


def from_npm(directory, name):
    with tempfile.TemporaryDirectory(dir=directory) as new:
        binaries.fetch(NPM[name], new)
        with tarfile.open(next(pathlib.Path(new).glob('*.tgz'))) as package:
            package.extractall(new)
        shutil.rmtree(directory / 'native', ignore_errors=True)
        shutil.move(f'{new}/package/native', directory)
    # A part of their C library, which works only with that library; ours has its own.
    (directory / 'native' / 'lib' / 'libcrypt.so.1').unlink(missing_ok=True)
    (directory / 'php').write_text(WRAPPER.format(tree=directory / 'native'))
    (directory / 'php').chmod(0o755)


def from_debian_arm64(directory, name):
    packages.unpack(CACHE, ARM64[name], 'arm64', directory / 'root', [f'php{name.split("-")[0]}-cli'])


def get(name):
    """Returns the directory of one PHP; the first call makes it. Its program is php, except for arm64's."""
    if name not in names() and name not in ARM64:
        raise Missing(f'no PHP is called {name}; there are ' + ' '.join(names()))
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            how = from_debian if name in DEBIAN else from_npm if name in NPM else from_debian_arm64
            how(directory, name)
            (directory / 'done').touch()
    return directory


def fails(name, why):
    """Prints the reason why this PHP is not available; returns whether that is a failure."""
    return absent.fails(f'PHP {name}', why) and name in LASTING


def elf(name):
    """Returns PHP's ELF file."""
    if name in NPM:
        return get(name) / 'native' / 'php' / 'php'
    return next(get(name).glob('root/usr/bin/php[0-9]*'))


def command(name, mode):
    """Returns the command that runs it in a mode."""
    options = ['-n', '-d', 'memory_limit=-1']
    if '/' in name: # the program of this machine
        return [name, *options]
    if mode != 'plain' and name != '8.5':
        found = next(get(name).glob('**/opcache.so'), None)
        if not found:
            raise Missing(f'PHP {name} has no opcache')
        options += ['-d', f'zend_extension={"opcache" if name in DEBIAN else found}']
    for setting in MODES[mode]:
        options += ['-d', setting]
    return [str(get(name) / 'php'), *options]


def is_in_mode(version, mode):
    """Returns whether a program that printed "8.2.1 opcache jit" runs in that mode."""
    return version.split()[1:] == {'plain': [], 'opcache': ['opcache']}.get(mode, ['opcache', 'jit'])


def main(wanted):
    if not wanted:
        print(*names(), sep='\n')
    for name in wanted:
        print(get(name) / 'php')


if __name__ == '__main__':
    main(sys.argv[1:])
