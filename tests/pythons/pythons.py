# SPDX-License-Identifier: Apache-2.0
"""pythons.py - the Pythons that tests run on, each in a directory of the same form:

    python      a program to exec: becomes that Python, its process id kept
    elf         the file that defines its eval loop: libpython, or the program
    libc        its C library

Debian's are unpacked with all that they depend on in a tree of their own, which is the
root of the process; those of pyenv are links to where they are; others are built here from Debian's source
packages, with what is on this machine. They are kept in build/pythons, or where STRATA_PYTHONS says."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get('STRATA_PYTHONS', TOP / 'build' / 'pythons'))
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
import packages
from absent import Missing

LIBC = 'lib/x86_64-linux-gnu/libc.so.6'

# Suite, minor version and program of what Debian has.
DEBIAN = {
    'debian-3.11': ('bookworm', '3.11', 'python3.11'),
    'debian-3.13': ('trixie', '3.13', 'python3.13'),
    'debian-3.14': ('sid', '3.14', 'python3.14'),
    'debian-3.15': ('sid', '3.15', 'python3.15'),
}

# The same in programs of their own, by libpython; and those with Py_DEBUG.
EMBEDDED = {
    'embedded-3.11': ('bookworm', '3.11'),
    'embedded-3.13': ('trixie', '3.13'),
    'embedded-3.14': ('sid', '3.14'),
    'embedded-3.15': ('sid', '3.15'),
}
DEBUG = {
    'debian-debug-3.11': ('bookworm', '3.11', 'python3.11d'),
    'debian-debug-3.13': ('trixie', '3.13', 'python3.13d'),
    'debian-debug-3.14': ('sid', '3.14', 'python3.14d'),
    'debian-debug-3.15': ('sid', '3.15', 'python3.15d'),
}

# arm64's, to look at: they do not run here. With the debug symbols of Debian.
ARM64 = {
    'arm64-3.11': ('bookworm', '3.11'),
    'arm64-3.13': ('trixie', '3.13'),
    'arm64-3.14': ('sid', '3.14'),
    'arm64-3.15': ('sid', '3.15'),
}

# Suite and minor version of the sources, the programs that building needs, options of
# configure. Each is built apart from its sources and runs where it was built.
BUILT = {
    'free-threaded-3.14': ('sid', '3.14', ['gcc'], ['--disable-gil']),
    'tail-call-3.14': ('sid', '3.14', ['clang-19'], ['--with-tail-call-interp', 'CC=clang-19']),
    'debug-3.13': ('trixie', '3.13', ['gcc'], ['--with-pydebug']),
    # As Alpine builds it, but whole in one file.
    'musl-static-3.13': ('trixie', '3.13', ['musl-gcc'],
                         ['LDFLAGS=-static', 'LINKFORSHARED= ', 'MODULE_BUILDTYPE=static',
                          '--without-ensurepip']),
    'musl-3.13': ('trixie', '3.13', ['musl-gcc'], ['--enable-shared', '--without-ensurepip']),
    # Trained with little, so that most of the eval loop is thought cold.
    'pgo-3.13': ('trixie', '3.13', ['gcc', 'gcov'],
                 ['--enable-optimizations', 'CFLAGS=-freorder-blocks-and-partition',
                  'PROFILE_TASK=-m test test_json test_re']),
    'free-threaded-3.13': ('trixie', '3.13', ['gcc'], ['--disable-gil']),
    'debug-3.14': ('sid', '3.14', ['gcc'], ['--with-pydebug']),
}

# $here/root becomes the process' root, with the machine's own /proc and so on, and the
# places where scripts are: the directory that was current and the sources.
WRAPPER = """#!/bin/sh
# {program} with {root} as its root.
inner='
for d in /proc /sys /dev /tmp {places}; do
	mkdir -p "{root}$d" && mount --rbind "$d" "{root}$d" || exit 125
done
wd=$1; shift
exec unshare --root="{root}" --wd="$wd" {program} "$@"'
exec unshare --mount --propagation {propagation} sh -c "$inner" sh "$PWD" "$@"
"""


def propagation():
    """Where our root is no mount, as in a chroot, it cannot be cut off."""
    with open('/proc/self/mountinfo') as mounts:
        return 'slave' if any(line.split()[4] == '/' for line in mounts) else 'unchanged'


def link(path, to):
    path.unlink(missing_ok=True)
    path.symlink_to(to)


def enter(directory, program):
    """python of a directory whose root is that of the process."""
    root, python = directory / 'root', directory / 'python'
    python.write_text(WRAPPER.format(root=root, program=program, places=TOP,
                                     propagation=propagation()))
    python.chmod(0o755)
    link(directory / 'libc', root / LIBC)


def unpack(directory, suite, wanted):
    packages.unpack_whole(CACHE, suite, 'amd64', directory / 'root', wanted)


def get_debian(directory, name):
    suite, minor, program = {**DEBIAN, **DEBUG}[name]
    unpack(directory, suite, [f'python{minor}-dbg' if name in DEBUG else f'python{minor}'])
    link(directory / 'elf', directory / 'root' / 'usr' / 'bin' / program)
    enter(directory, f'/usr/bin/{program}')


def get_embedded(directory, name):
    suite, minor = EMBEDDED[name]
    root = directory / 'root'
    unpack(directory, suite, [f'libpython{minor}', f'python{minor}'])
    packages.unpack(CACHE, suite, 'amd64', directory / 'headers', [f'libpython{minor}-dev'])
    library = next(root.glob(f'usr/lib/x86_64-linux-gnu/libpython{minor}.so.1.0'))
    include = directory / 'headers' / 'usr' / 'include'
    with open(directory / 'log', 'w') as log:
        run(log, ['gcc', '-O2', '-Wall', '-I', include, '-I', include / f'python{minor}',
                  TOP / 'tests' / 'pythons' / 'embed.c', library, '-pthread',
                  '-Wl,--unresolved-symbols=ignore-in-shared-libs', '-o', root / 'usr' / 'bin' / 'embedded'])
    link(directory / 'elf', library)
    enter(directory, '/usr/bin/embedded')


def get_arm64(directory, name):
    suite, minor = ARM64[name]
    root = directory / 'root'
    packages.unpack(CACHE, suite, 'arm64', root, [f'python{minor}-minimal', f'python{minor}-dbg'])
    link(directory / 'elf', root / 'usr' / 'bin' / f'python{minor}')


def symbols_of(name):
    """The file with the symbols of a Python that are not exported: itself when it was not
    stripped, what Debian has for it where that was got (debian-debug-*), else None."""
    elf = CACHE.resolve() / name / 'elf'
    if ' .symtab ' in output('readelf', '-SW', elf):
        return elf
    build_id = re.search(r'Build ID: (\w+)', output('readelf', '-n', elf))
    if not build_id:
        return None
    directory, file = build_id.group(1)[:2], build_id.group(1)[2:] + '.debug'
    tree = CACHE.resolve() / re.sub('^(debian|embedded)-', 'debian-debug-', name) / 'root'
    debug = tree / 'usr/lib/debug/.build-id' / directory / file
    return debug if debug.exists() else None


def true_ranges(name):
    """[(start, end)] of the eval loop by the symbols of its parts; None: there are none."""
    symbols = symbols_of(name)
    found = set()
    for line in output('readelf', '-sW', symbols).splitlines() if symbols else []:
        word = line.split()
        if len(word) == 8 and re.fullmatch(r'_PyEval_EvalFrameDefault(\.cold)?', word[7]):
            found.add((int(word[1], 16), int(word[1], 16) + int(word[2], 0)))
    return sorted(found) or None


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def pyenv_root():
    return pathlib.Path(os.environ.get('PYENV_ROOT', pathlib.Path.home() / '.pyenv'))


def pyenv_names():
    found = [p.parents[1].name for p in pyenv_root().glob('versions/3.*/bin/python3')]
    return ['pyenv-' + v for v in sorted(found, key=lambda v: [int(n) for n in re.findall(r'\d+', v)])]


def get_pyenv(directory, name):
    prefix = pyenv_root() / 'versions' / name.removeprefix('pyenv-')
    python = prefix / 'bin' / 'python3'
    if not python.exists():
        raise Missing(f'{prefix} is not there')
    shared = sorted(prefix.glob('lib/libpython3.*.so.1.0'))
    link(directory / 'python', python.resolve())
    link(directory / 'elf', shared[0] if shared else python.resolve())
    link(directory / 'libc', '/' + LIBC)


def run(log, command, **args):
    done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, **args)
    if done.returncode:
        raise Missing(f'{command[0]} failed: see {log.name}')


def get_source(suite, minor):
    directory = CACHE.resolve() / f'source-{minor}'
    if not (directory / 'configure').exists():
        packages.source(CACHE, suite, directory, f'python{minor}')
    return directory


def musl_compiler(directory):
    """It is gcc for glibc that answers what the triplet is; configure mistrusts that."""
    cc = directory / 'musl-cc'
    cc.write_text('#!/bin/sh\n[ "$1" = --print-multiarch ] || exec musl-gcc "$@"\n')
    cc.chmod(0o755)
    return cc


def get_built(directory, name):
    suite, minor, needed, options = BUILT[name]
    for program in needed + ['make']:
        if not shutil.which(program):
            raise Missing(f'{program} is needed to build it')
    source, build = get_source(suite, minor), directory / 'build'
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir()
    print(f'pythons: building {name}', file=sys.stderr)
    if 'musl-gcc' in needed:
        options = [f'CC={musl_compiler(directory)}', 'PKG_CONFIG=false', *options]
    with open(directory / 'log', 'w') as log:
        run(log, ['nice', source / 'configure', '--disable-test-modules', *options], cwd=build)
        run(log, ['nice', 'make', f'-j{os.cpu_count()}'], cwd=build)
    shared = sorted(build.glob('libpython3.*.so.1.0'))
    if shared:
        wrapper = directory / 'python'
        wrapper.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={build} exec {build}/python "$@"\n')
        wrapper.chmod(0o755)
    else:
        link(directory / 'python', build / 'python')
    link(directory / 'elf', shared[0] if shared else build / 'python')
    static = 'LDFLAGS=-static' in options
    link(directory / 'libc', build / 'python' if static else
         '/lib/ld-musl-x86_64.so.1' if 'musl-gcc' in needed else '/' + LIBC)


def names():
    """Those to be had without building."""
    return [*DEBIAN, *pyenv_names()]


def all_names():
    """All that run here."""
    return names() + [*EMBEDDED, *DEBUG, *BUILT]


def make(name, directory):
    if name in DEBIAN or name in DEBUG:
        get_debian(directory, name)
    elif name in EMBEDDED:
        get_embedded(directory, name)
    elif name in ARM64:
        get_arm64(directory, name)
    elif name.startswith('pyenv-'):
        get_pyenv(directory, name)
    elif name in BUILT:
        get_built(directory, name)
    else:
        raise Missing(f'no Python is called {name}; there are ' + ' '.join(all_names()))


def get(name):
    """The directory of one Python, made when it is not there."""
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / ('lock-build' if name in BUILT else 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            make(name, directory)
            (directory / 'done').touch()
    return directory
