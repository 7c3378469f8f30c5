#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cache - compiled scripts in the cache: used when nothing has changed, and only then; hostile files are not used.

    cache.py STRATA"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
import tap

STRATA = os.path.abspath(sys.argv[1])
SCRIPT = 'begin { printf("%d %s\\n", $1, str($2)); @ = count(); exit(); }'


cases = tap.Cases()
CASES = []


def case(function):
    CASES.append(function)
    return function


class Cache:
    def __init__(self):
        self.tree = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.tree.name, 'cache')

    def run(self, script=SCRIPT, params=('7', 'x'), options=(), env=()):
        env = dict(os.environ, STRATA_CACHE_DIR=str(self.dir), **dict(env))
        done = subprocess.run([STRATA, '-q', *options, '-e', script, *params], env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        return done.stdout, done.stderr, done.returncode

    def files(self):
        return sorted(self.dir.glob('image-*')) if self.dir.exists() else []

    def mtimes(self):
        return [f.stat().st_ino for f in self.files()]


WANTED = ('7 x\n\n\n@: 1\n', '', 0)


@case
def used():
    """The second run takes the file of the first, and writes none."""
    c = Cache()
    first = c.run()
    inodes = c.mtimes()
    assert first == WANTED and len(inodes) == 1, (first, inodes)
    assert c.run() == WANTED and c.mtimes() == inodes


@case
def keys():
    """Another text, parameter, option or setting is another file."""
    c = Cache()
    c.run()
    assert c.run(params=('8', 'x'))[0].startswith('8 x\n')
    assert c.run(params=('7', 'y'))[0].startswith('7 y\n')
    assert c.run(script=SCRIPT + ' ')[0] == WANTED[0]
    assert c.run(env={'BPFTRACE_MAX_STRLEN': '2'})[0].startswith('7 x\n')
    assert len(c.files()) == 5, c.files()


@case
def again():
    """What is a matter of the run is new at each start: time, CPUs, ids, attach points."""
    c = Cache()
    script = ('begin { printf("%s %d\\n", strftime("%s", nsecs), elapsed < 5000000000); } tracepoint:syscalls:sys_enter_o* '
              '/pid == cpid/ { @[probe] = count(); }')
    for n in range(2):
        before = int(time.time())
        out, err, code = c.run(script, (), ('-c', 'cat /dev/null'))
        seconds, young = out.split()[:2]
        assert code == 0 and abs(int(seconds) - before) < 10 and young == '1', (out, err)
        assert '@[tracepoint:syscalls:sys_enter_openat]: ' in out, out
        time.sleep(1.2)
    assert len(c.files()) == 1


@case
def programs():
    """A program that is compiled anew, with a function that the probe did not find before."""
    c = Cache()
    prog = pathlib.Path(c.tree.name, 'prog')
    script = f'config = {{ missing_probes = "ignore" }} begin {{ @n = 1; }} uprobe:{prog}:wanted {{ @ = count(); }}'
    for name, want in (('other', False), ('wanted', True), ('wanted', True), ('other', False)):
        # Each version has the function in another place.
        text = f'{"int pad(int a) { return a * 3; } " * want}__attribute__((noinline)) int {name}(void) {{ return 1; }}'
        subprocess.run(['cc', '-O0', '-xc', '-', '-o', str(prog)], input=f'{text} int main(void) {{ return {name}() - 1; }}',
                       text=True, check=True)
        out, err, code = c.run(script, (), ('-c', str(prog)))
        assert code == 0 and ('@: 1' in out) == want, (name, out, err)


def overloads(prog, more):
    """Compiles a program with foo(int), and with foo(long) after it."""
    second = '__attribute__((noinline)) int foo(long a) { return a * 3; } ' * more
    call = ' + foo(2L)' * more
    subprocess.run(['c++', '-O0', '-xc++', '-', '-o', str(prog)], text=True, check=True,
                   input=f'__attribute__((noinline)) int foo(int a) {{ return a; }} {second}'
                         f'int main() {{ return (foo(1){call}) == 0; }}')


@case
def more_places():
    """A program that is compiled anew, where the probe matches two functions instead of one."""
    c = Cache()
    prog = pathlib.Path(c.tree.name, 'prog')
    for more in (0, 0, 1, 1, 0):
        overloads(prog, more)
        out, err, code = c.run(f'uprobe:{prog}:cpp:foo {{ @ = count(); }}', (), ('-c', str(prog)))
        assert (code, err) == (0, '') and f'@: {more + 1}\n' in out, (more, out, err)
    assert c.files()


@case
def more_places_built():
    """A built program warns that it misses a function."""
    c = Cache()
    prog, tool = (pathlib.Path(c.tree.name, name) for name in ('prog', 'tool'))
    overloads(prog, 0)
    subprocess.run([STRATA, 'build', '-o', str(tool), '-e', f'uprobe:{prog}:cpp:foo {{ @ = count(); }}'], check=True)
    for more in (0, 1):
        overloads(prog, more)
        done = subprocess.run([str(tool), '-c', str(prog)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and '@: 1\n' in done.stdout, done
        assert ('matches more probes than when this was built' in done.stderr) == bool(more), done.stderr


@case
def not_kept():
    """Scripts with warnings, addresses of the kernel, or files are compiled each time, and say the same."""
    c = Cache()
    warns = 'begin { $y = @q; print($y); exit(); }'
    a, b = c.run(warns, ()), c.run(warns, ())
    assert a == b and 'warning' in a[1] and not c.files(), (a, c.files())
    c.run('begin { printf("%d\\n", cgroupid("/sys/fs/cgroup")); exit(); }', ())
    assert not c.files()


def damaged(name, change):
    c = Cache()
    c.run()
    (file,) = c.files()
    change(file)
    assert c.run() == WANTED, name
    assert c.run() == WANTED, name


def flip(at):
    def change(file):
        data = bytearray(file.read_bytes())
        data[at * len(data) // 100] ^= 0xff
        file.write_bytes(data)
    return change


@case
def damage():
    """Truncated and changed files are not used."""
    for at in range(0, 100, 9):
        damaged(f'byte at {at} %', flip(at))
    damaged('empty', lambda f: f.write_bytes(b''))
    damaged('half', lambda f: f.write_bytes(f.read_bytes()[:len(f.read_bytes()) // 2]))
    damaged('longer', lambda f: f.write_bytes(f.read_bytes() + b'x'))


def checksum(data):
    """That of src/imagefile/imagefile.c."""
    h = 14695981039346656037
    for at in range(0, len(data), 8):
        h = (h ^ int.from_bytes(data[at:at + 8], 'little')) * 1099511628211 % (1 << 64)
        h ^= h >> 29
    return h


def no_object(file):
    data = bytearray(file.read_bytes())
    head, elf = data.index(b'strata image\n'), data.index(b'\x7fELF')
    data[elf] ^= 1
    data[head + 24:head + 32] = checksum(data[head + 112:]).to_bytes(8, 'little')
    file.write_bytes(data)


@case
def unfit():
    """An image that is whole and does not fit is not used, and no error is printed."""
    damaged('code that is no object', no_object)


def other_text(file):
    """The image of another script, under this name."""
    c = Cache()
    c.run('begin { printf("evil\\n"); exit(); }', ())
    file.write_bytes(c.files()[0].read_bytes())


def link(file):
    file.rename(file.with_name('there'))
    file.symlink_to(file.with_name('there'))


def second_name(file):
    os.link(file, file.with_name('there'))


def fifo(file):
    file.unlink()
    os.mkfifo(file)


@case
def planted():
    """Files of other scripts and users, links and fifos are not used."""
    damaged('another script', other_text)
    damaged('link', link)
    damaged('second name', second_name)
    damaged('writable', lambda f: f.chmod(0o666))
    damaged('fifo', fifo)
    if os.geteuid() == 0:
        damaged('another user', lambda f: os.chown(f, 1000, 1000))


@case
def open_directory():
    """A directory in which others can write is not used, and the user hears it; one that others can read is used."""
    c = Cache()
    c.dir.mkdir(mode=0o700)
    c.dir.chmod(0o777)
    assert c.run() == WANTED and not c.files()
    loud = subprocess.run([STRATA, '-e', 'begin { exit(); }'], env=dict(os.environ, STRATA_CACHE_DIR=str(c.dir)),
                          capture_output=True, text=True, timeout=60)
    assert f'nothing is cached in {c.dir}: it belongs to another user, or others can write to it' in loud.stderr, loud
    c.dir.chmod(0o755)
    assert c.run() == WANTED and c.files()


@case
def at_once():
    """20 instances at once are right, and leave one file."""
    c = Cache()
    env = dict(os.environ, STRATA_CACHE_DIR=str(c.dir))
    running = [subprocess.Popen([STRATA, '-q', '-e', SCRIPT, '7', 'x'], env=env, stdout=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL) for _ in range(20)]
    assert all(p.communicate()[0] == WANTED[0] for p in running)
    assert len(list(c.dir.glob('image-*'))) == 1, list(c.dir.iterdir())


@case
def bounded():
    """The directory keeps at most 256 images, of at most 128 MiB, and no files of dead runs."""
    c = Cache()
    c.run()
    data = c.files()[0].read_bytes()
    for n in range(300):
        (c.dir / f'image-{n:032x}').write_bytes(data)
    for n in range(60):
        os.utime(c.dir / f'image-{n:032x}', (n, n))
    dead = c.dir / f'image-{0:032x}.77'
    dead.write_bytes(b'x')
    os.utime(dead, (0, 0))
    c.run(params=('9', 'z'))
    assert len(c.files()) == 256, len(c.files())
    assert not dead.exists() and not (c.dir / f'image-{0:032x}').exists()
    for n in range(90, 110):
        with (c.dir / f'image-{n:032x}').open('wb') as file:
            file.truncate(16 << 20)
    c.run(params=('10', 'z'))
    assert sum(f.stat().st_size for f in c.files()) <= 128 << 20


for function in CASES:
    try:
        function()
        cases.check(True, function.__doc__)
    except AssertionError as e:
        cases.check(False, function.__doc__, e)
sys.exit(cases.done())
