# SPDX-License-Identifier: Apache-2.0
"""pythons.py - the Pythons that tests run on, each in a directory of the same form:

    python      a program that execs that Python, so that the process id stays
    elf         the file that defines its eval loop: libpython, or the program
    libc        its C library

Debian's are unpacked with all their dependencies in separate trees, each the root of its
process; those of pyenv are links; others are built here from Debian's source packages, with
the compilers of this machine. They are kept in build/pythons or the directory STRATA_PYTHONS."""
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

# Suite, minor version and program of Debian's Pythons.
DEBIAN = {
    'debian-3.11': ('bookworm', '3.11', 'python3.11'),
    'debian-3.13': ('trixie', '3.13', 'python3.13'),
    'debian-3.14': ('sid', '3.14', 'python3.14'),
    'debian-3.15': ('sid', '3.15', 'python3.15'),
}

# The same Pythons embedded in programs, by libpython; and builds with Py_DEBUG.
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

# arm64's, whose files are only read: they do not run here. With Debian's debug symbols.
ARM64 = {
    'arm64-3.11': ('bookworm', '3.11'),
    'arm64-3.13': ('trixie', '3.13'),
    'arm64-3.14': ('sid', '3.14'),
    'arm64-3.15': ('sid', '3.15'),
}

# Suite and minor version of the sources, the programs that building needs, options of
# configure. Each is built outside of its sources and runs in its build directory.
BUILT = {
    'free-threaded-3.14': ('sid', '3.14', ['gcc'], ['--disable-gil']),
    'tail-call-3.14': ('sid', '3.14', ['clang-19'], ['--with-tail-call-interp', 'CC=clang-19']),
    'debug-3.13': ('trixie', '3.13', ['gcc'], ['--with-pydebug']),
    # The options of Alpine, but static, in one file.
    'musl-static-3.13': ('trixie', '3.13', ['musl-gcc'],
                         ['LDFLAGS=-static', 'LINKFORSHARED= ', 'MODULE_BUILDTYPE=static',
                          '--without-ensurepip']),
    'musl-3.13': ('trixie', '3.13', ['musl-gcc'], ['--enable-shared', '--without-ensurepip']),
    # The training runs few tests, so that GCC takes most of the eval loop for cold.
    'pgo-3.13': ('trixie', '3.13', ['gcc', 'gcov'],
                 ['--enable-optimizations', 'CFLAGS=-freorder-blocks-and-partition',
                  'PROFILE_TASK=-m test test_json test_re']),
    'free-threaded-3.13': ('trixie', '3.13', ['gcc'], ['--disable-gil']),
    'debug-3.14': ('sid', '3.14', ['gcc'], ['--with-pydebug']),
}

# $here/root becomes the root of the process, with the machine's own /proc and so on, and the
# directories of scripts: the current directory and the sources.
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
    """Returns the argument of unshare's --propagation; that of a root that is not a mount point cannot be changed."""
    with open('/proc/self/mountinfo') as mounts:
        return 'slave' if any(line.split()[4] == '/' for line in mounts) else 'unchanged'


def link(path, to):
    path.unlink(missing_ok=True)
    path.symlink_to(to)


def enter(directory, program):
    """Writes `python` of a directory, whose root becomes that of the process."""
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
    """The file with the local symbols of a Python: its own file if it is not stripped, Debian's
    debug file if that was fetched (debian-debug-*), else None."""
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
    """[(start, end)] of the eval loop by the symbols of its fragments; None: it has no symbols."""
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
    """Writes a musl-gcc that does not answer --print-multiarch: gcc answers glibc's triplet, which configure rejects."""
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
    """Returns the names of those that need no building."""
    return [*DEBIAN, *pyenv_names()]


def all_names():
    """Returns the names of all that run on this machine."""
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
    """Returns the directory of one Python; makes it if it does not exist."""
    directory = CACHE.resolve() / name
    directory.mkdir(parents=True, exist_ok=True)
    with open(CACHE / ('lock-build' if name in BUILT else 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'done').exists():
            make(name, directory)
            (directory / 'done').touch()
    return directory
