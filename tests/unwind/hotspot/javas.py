#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""javas.py - the JDKs of tests, in build/java (or in STRATA_JAVA): Debian's, each in a tree of packages with all
dependencies, which is the root of its processes. 17 contains the compiler, whose classes all versions run.

    javas.py                 prints the names of all
    javas.py NAME...         unpacks these if necessary, and prints the program of each

The program execs that java, so the process ID stays the same."""
import fcntl
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_JAVA', TOP / 'build' / 'java'))
sys.path[:0] = [str(TOP / 'tests' / name) for name in ('lib', 'pythons')]
import absent
import packages
import pythons
from absent import Missing

# Debian's suite of each version.
DEBIAN = {'8': 'sid', '11': 'sid', '17': 'bookworm', '21': 'trixie', '25': 'trixie', '26': 'sid'}

# Debian's JDKs of arm64, which do not run here; tests read their files.
ARM64 = {'17-arm64': 'bookworm', '21-arm64': 'trixie', '25-arm64': 'trixie'}
# Others of arm64, which only cores/make_java.py runs, in an emulated machine.
RECORDED = {'8-arm64': 'sid', '11-arm64': 'sid', '26-arm64': 'sid'}

# The versions that Debian's mirrors will have for some years.
LASTING = ['17', '21', '25', *ARM64]

# Sets of options, by name.
MODES = {
    'default': [],
    'int': ['-Xint'],
    'c1': ['-XX:TieredStopAtLevel=1'],
    'c2': ['-XX:-TieredCompilation'],
    'serial': ['-XX:+UseSerialGC'],
    'parallel': ['-XX:+UseParallelGC'],
    'g1': ['-XX:+UseG1GC'],
    'shenandoah': ['-XX:+UseShenandoahGC'],
    'zgc': ['-XX:+UseZGC'],
}


def names():
    return list(DEBIAN)


def modes(name):
    """Returns the modes that a version has."""
    missing = {'8': ['zgc', 'shenandoah'], '11': ['zgc', 'shenandoah']}
    return [mode for mode in MODES if mode not in missing.get(name, [])]


def home(name):
    """Returns the directory of a JDK within its tree."""
    return next((get(name) / 'root' / 'usr' / 'lib' / 'jvm').glob('java-*-openjdk-*'))


def from_debian(directory, name):
    version = name.split('-')[0]
    suite = {**ARM64, **RECORDED}.get(name)
    if suite:
        packages.unpack(CACHE, suite, 'arm64', directory / 'root', [f'openjdk-{version}-jre-headless'])
        return
    pythons.CACHE = CACHE
    kind = 'jdk' if name == '17' else 'jre'
    pythons.unpack(directory, DEBIAN[name], [f'openjdk-{version}-{kind}-headless'])
    root = directory / 'root'
    java = next(path for pattern in ('bin', 'jre/bin')
                for path in root.glob(f'usr/lib/jvm/java-*-openjdk-amd64/{pattern}/java'))
    pythons.enter(directory, '/' + str(java.relative_to(root)))
    (directory / 'python').rename(directory / 'java')


def get(name):
    """Returns the directory of one JDK; the first call makes it. Its program is java, except for arm64's."""
    if name not in {*names(), *ARM64, *RECORDED}:
        raise Missing(f'no JDK is called {name}; there are ' + ' '.join(names()))
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            from_debian(directory, name)
            (directory / 'done').touch()
    return directory


def fails(name, why):
    """Prints the reason why this JDK is not available; returns whether that is a failure."""
    return absent.fails(f'JDK {name}', why) and name in LASTING


def elf(name):
    """Returns the file of the virtual machine."""
    return next((get(name) / 'root').glob('usr/lib/jvm/java-*-openjdk-*/**/server/libjvm.so'))


def command(name, mode='default'):
    """Returns the command that runs it in a mode."""
    return [str(get(name) / 'java'), *MODES[mode]]


def compiled(source, directory, release=8, jars=()):
    """Compiles a source file for this release and all later ones; returns the directory of its classes."""
    javac = home('17') / 'bin' / 'javac'
    run = [str(get('17') / 'java'), '--limit-modules', 'jdk.compiler,jdk.zipfs', '-m', 'jdk.compiler/com.sun.tools.javac.Main',
           '--release', str(release), '-g', '-nowarn', '-XDsuppressNotes', '-cp', ':'.join(jars), '-d', str(directory), str(source)]
    assert javac.exists()
    done = subprocess.run(run, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout)
    return directory


def main(wanted):
    if not wanted:
        print(*names(), sep='\n')
    for name in wanted:
        print(get(name) / 'java')


if __name__ == '__main__':
    main(sys.argv[1:])
