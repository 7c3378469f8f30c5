#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trees.py BUILD - tests the packages of ./dev package in minimal root trees: the .deb in a minimal Debian of
this release, with manual and completion; the static binary in a tree with only busybox, and in a tree with musl and
its own Python. The README's first line must work in each. Needs root; takes minutes."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'tests' / 'lib'), str(TOP / 'tests' / 'pythons')]
import packages
import pythons
from absent import Missing, as_root, tap_fails
from tap import Cases

MADE, TREES = TOP / 'build' / 'package', TOP / 'build' / 'peers'
SCRIPT = 'profile:hz:99 { @[ustack] = count(); }'
APP = '/app.py'
C_PART = 'struct pair { int a; long b; } begin { print(sizeof(struct pair)); exit() }'
ARGUMENTS = ('struct pair { int a; long b; }; __attribute__((noinline)) long sum(struct pair *p, int k) { return p->b + k; }'
             'int main(int argc, char **argv) { struct pair p = { 6, 7 }; return sum(&p, argc) == 0; }')
SIZE = 40 * 1000 * 1000
# $1: the tree; the other arguments: the command that runs there. The mounts end with the namespace.
ENTER = """
mount --make-rprivate / 2>/dev/null
for d in proc sys dev; do mkdir -p "$1/$d" && mount --rbind /$d "$1/$d" || exit; done
tree=$1; shift; exec chroot "$tree" "$@"
"""
ENVIRONMENT = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/', 'LANG': 'C.UTF-8', 'DEBIAN_FRONTEND': 'noninteractive'}


def within(tree, *command):
    return subprocess.run(['unshare', '--mount', '--propagation', 'private', 'sh', '-c', ENTER, 'enter', tree, *command],
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=900)


def first_line(cases, what, tree, strata, command, *wanted):
    """The README's first line: a profile that has the wanted frames."""
    done = within(tree, strata, '-e', SCRIPT, '-c', command)
    stacks = re.findall(r'^@\[\n(.*?)^\]: \d+$', done.stdout, re.M | re.S)
    lacking = [w for w in wanted if not re.search(w, done.stdout, re.M)]
    cases.check(done.returncode == 0 and stacks and not lacking, f'{what}: the first line of the README',
                f'exit {done.returncode}', f'lacking: {lacking}', done.stderr, done.stdout[-2000:])


def debian_release():
    return re.search(r'^VERSION_CODENAME=(\w+)', pathlib.Path('/etc/os-release').read_text(), re.M).group(1)


@contextlib.contextmanager
def bare():
    """Returns a copy of a minimal Debian, which is made once."""
    suite = debian_release()
    made = TREES / f'bare-{suite}'
    if not made.exists():
        print(f'# making a tree of Debian {suite} (once)', flush=True)
        new = TREES / f'bare-{suite}.new'
        shutil.rmtree(new, ignore_errors=True)
        TREES.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(['debootstrap', '--variant=minbase', suite, new, packages.mirror()], capture_output=True,
                              text=True)
        if done.returncode:
            raise Missing('debootstrap failed: ' + done.stdout.strip().rpartition('\n')[2])
        new.rename(made)
    with tempfile.TemporaryDirectory(dir=TREES) as directory:
        tree = pathlib.Path(directory) / 'tree'
        subprocess.run(['cp', '-a', made, tree], check=True)
        shutil.copy('/etc/resolv.conf', tree / 'etc' / 'resolv.conf')
        yield tree


BASH_TAB = '''
. /usr/share/bash-completion/bash_completion
_completion_loader strata 2>/dev/null || _comp_load strata
COMP_LINE="strata -l tracepoint:sched:sched_swit" COMP_POINT=37
_strata strata sched_swit :
printf '%s\n' "${COMPREPLY[@]}"
'''


def c_part(cases, what, tree, strata, *wanted):
    """Returns the output of a script with definitions in C."""
    done = within(tree, strata, '-q', '-e', C_PART)
    said = done.stdout + done.stderr
    cases.check(all(w in said for w in wanted), f'{what}: definitions in C', said)


def arguments(cases, what, tree, strata, lacking=None):
    """Tests arguments by a program's debug information; lacking: a package without which it is not read."""
    done = within(tree, strata, '-q', '-e', 'uprobe:/sum:sum { print((args.p->b, args.k)); }', '-c', '/sum')
    cases.check(done.stdout.startswith('(7, 1)\n') if not lacking else lacking in done.stderr,
                f'{what}: arguments by name', done.stdout, done.stderr)


def make_program(tree):
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory) / 'sum.c'
        source.write_text(ARGUMENTS)
        subprocess.run(['gcc', '-g', '-O1', '-static', '-o', tree / 'sum', source], check=True)


def deb(cases):
    debs = sorted(MADE.glob('*.deb'))
    with bare() as tree:
        shutil.copy(debs[0], tree)
        shutil.copy(TOP / 'examples' / 'app.py', tree / APP[1:])
        done = within(tree, 'sh', '-c', 'apt-get -qq update && apt-get -qq -y --no-install-recommends install python3 '
                      'bash-completion man-db')
        if done.returncode:
            raise Missing('apt-get failed: ' + done.stderr[-300:])
        done = within(tree, 'sh', '-c', f'dpkg -i /{debs[0].name}; apt-get -qq -y -f install && dpkg -s strata')
        cases.check(done.returncode == 0 and 'ok installed' in done.stdout, 'dpkg -i and apt-get -f install', done.stdout,
                    done.stderr)
        done = within(tree, 'strata', '-V')
        cases.check(done.stdout.startswith('strata '), 'strata -V', done.stdout, done.stderr)
        first_line(cases, 'the .deb', tree, 'strata', f'python3 {APP}', r'^ +work .*/app\.py:\d+$', r'^ +_start\+')
        make_program(tree)
        libraries = recommended(debs[0], 'libclang1-', 'libdw')
        within(tree, 'dpkg', '--purge', '--force-depends', *libraries)
        arguments(cases, 'the .deb without libdw', tree, 'strata', 'libdw1')
        c_part(cases, 'the .deb without libclang', tree, 'strata', 'error: ', 'libclang1')
        within(tree, 'apt-get', '-qq', '-y', '--no-install-recommends', 'install', *libraries)
        arguments(cases, 'the .deb with libdw', tree, 'strata')
        c_part(cases, 'the .deb with libclang', tree, 'strata', '16\n')
        done = within(tree, 'sh', '-c', 'man strata | cat')
        # A minimal Debian excludes manuals, so the page is read from the package itself.
        page = within(tree, 'sh', '-c', f'dpkg-deb --fsys-tarfile /{debs[0].name} | tar -xO ./usr/share/man/man8/strata.8.gz'
                      ' >/tmp/strata.8.gz && man -l /tmp/strata.8.gz | cat')
        shown = done.stdout + page.stdout
        cases.check('tracing one-liners' in shown and 'SYNOPSIS' in shown, 'its manual', done.stderr, page.stderr)
        done = within(tree, 'bash', '-c', BASH_TAB)
        cases.check(done.stdout == 'sched_switch\n', 'TAB', done.stdout, done.stderr)


def recommended(package, *names):
    control = subprocess.run(['dpkg-deb', '-f', package, 'Recommends'], capture_output=True, text=True, check=True).stdout
    return [re.search(name + r'\d\w*', control).group() for name in names]


def unpacked_package(name, directory):
    packages.unpack_whole(packages_cache(), debian_release(), 'amd64', directory, [name])


def packages_cache():
    return pathlib.Path(os.environ.get('STRATA_PACKAGES', TOP / 'build' / 'packages'))


def program():
    return next(MADE.glob(f'strata-{os.uname().machine}'))


def busybox(cases):
    with tempfile.TemporaryDirectory(dir=TREES) as directory:
        tree, whole = pathlib.Path(directory) / 'tree', pathlib.Path(directory) / 'whole'
        unpacked_package('busybox-static', whole)
        (tree / 'bin').mkdir(parents=True)
        shutil.copy(next(p for p in (whole / 'bin/busybox', whole / 'usr/bin/busybox') if p.exists()), tree / 'bin')
        shutil.copy(program(), tree / 'strata')
        first_line(cases, 'busybox alone', tree, '/strata', "busybox sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'",
                   r'^ +busybox\+')
        done = within(tree, '/strata', '-l', 'tracepoint:sched:sched_sw*')
        cases.check('tracepoint:sched:sched_switch' in done.stdout, 'busybox alone: -l', done.stdout, done.stderr)
        make_program(tree)
        arguments(cases, 'busybox alone', tree, '/strata')
        c_part(cases, 'busybox alone', tree, '/strata', 'error: this build of strata has no parser for C')


def musl(cases):
    made = pythons.get('musl-3.13')
    with tempfile.TemporaryDirectory(dir=TREES) as directory:
        tree = pathlib.Path(directory)
        built = made / 'build'
        for file in ('/lib/ld-musl-x86_64.so.1', '/bin/busybox'):
            (tree / file[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath('/lib/ld-musl-x86_64.so.1'), tree / 'lib/ld-musl-x86_64.so.1')
        where = tree / str(built)[1:]
        where.parent.mkdir(parents=True)
        subprocess.run(['cp', '-a', built, where], check=True)
        source = (built / 'Makefile').read_text()
        library = pathlib.Path(re.search(r'^srcdir=\s*(.*)$', source, re.M).group(1)) / 'Lib'
        (tree / str(library)[1:]).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(['cp', '-a', library, tree / str(library)[1:]], check=True)
        (tree / 'usr/bin').mkdir(parents=True)
        (tree / 'usr/bin/python3').symlink_to(built / 'python')
        for so in built.glob('libpython*.so*'):
            subprocess.run(['cp', '-a', so, tree / 'lib'], check=True)
        shutil.copy(TOP / 'examples' / 'app.py', tree / APP[1:])
        # Debian has no zlib for musl, so this Python has none.
        (tree / 'zlib.py').write_text('def compress(data, level=6):\n    return bytes(sorted(data))\n')
        shutil.copy(program(), tree / 'usr/bin/strata')
        first_line(cases, 'musl', tree, 'strata', f'python3 {APP}', r'^ +work .*/app\.py:\d+$')


def main():
    cases = Cases()
    if not list(MADE.glob('*.deb')) or not list(MADE.glob('strata-*')):
        print('1..0 # SKIP ./dev package has not made them')
        return 0
    size = program().stat().st_size
    cases.check(size <= SIZE, f'the program without libraries has at most {SIZE} bytes', size)
    linked = subprocess.run(['ldd', program()], capture_output=True, text=True)
    cases.check('not a dynamic executable' in linked.stderr + linked.stdout, 'it needs no library', linked.stdout)
    control = subprocess.run(['dpkg-deb', '-f', next(MADE.glob('*.deb'))], capture_output=True, text=True).stdout
    cases.check(re.search(r'^Depends: .*libcapstone\d', control, re.M), 'the .deb names capstone', control)
    cases.check(re.search(r'^Recommends: .*libjson-c\d', control, re.M), 'and json-c', control)
    cases.check(re.search(r'^Recommends: .*libclang1-\d', control, re.M), 'and libclang', control)
    for what, look in (('the .deb', deb), ('busybox alone', busybox), ('musl', musl)):
        try:
            look(cases)
        except Missing as why:
            cases.count += 1
            cases.failed += tap_fails(cases.count, what, why)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(main))
