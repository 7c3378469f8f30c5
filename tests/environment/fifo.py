#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fifo.py STRATA - a fifo or another special file in place of a file that strata opens by itself never
blocks it."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import tap_fails

STRATA = os.path.realpath(sys.argv[1])
SCRIPT = 'profile:hz:499 { @[ustack] = count(); } interval:s:1 { exit(); }'
COMMAND = '/usr/bin/python3 -c "while True: pass"'
cases = tap.Cases()


def run(cache, *args, **more):
    env = dict(os.environ, STRATA_CACHE_DIR=str(cache))
    try:
        return subprocess.run([STRATA, *args], capture_output=True, text=True, timeout=20, env=env, **more)
    except subprocess.TimeoutExpired as e:
        return e


def is_fine(done):
    return not isinstance(done, subprocess.TimeoutExpired) and done.returncode == 0 and ']: ' in done.stdout


def replaced(cache, what, make):
    """Replaces each file of the cache by something that is not a regular file."""
    for file in list(cache.iterdir()):
        file.unlink()
        make(file)
    done = run(cache, '-e', SCRIPT, '-c', COMMAND)
    cases.check(is_fine(done), f'a {what} for each file of the cache', done)
    for file in cache.iterdir():
        if file.is_dir() and not file.is_symlink():
            file.rmdir()
            file.touch()


def cached(dir):
    cache = dir / 'cache'
    cache.mkdir(0o700)
    done = run(cache, '-e', SCRIPT, '-c', COMMAND)
    cases.check(is_fine(done) and any(cache.iterdir()), 'the cache is filled', done, list(cache.iterdir()))
    replaced(cache, 'fifo', os.mkfifo)
    replaced(cache, 'symbolic link', lambda path: path.symlink_to('/dev/tty'))
    replaced(cache, 'directory', os.mkdir)
    for make, what in ((os.mkfifo, 'fifo'), (os.mkdir, 'directory'), (pathlib.Path.touch, 'file')):
        other = dir / f'cache-{what}'
        make(other)
        cases.check(is_fine(run(other, '-e', SCRIPT, '-c', COMMAND)), f'a {what} for the cache itself')


def perf_map(dir):
    """A process with anonymous code, whose map of names (/tmp/perf-PID.map) is a fifo."""
    program = dir / 'jit.py'
    program.write_text('import ctypes, mmap, os\n'
                       'os.mkfifo(f"/tmp/perf-{os.getpid()}.map")\n'
                       'code = mmap.mmap(-1, 4096, prot=7)\n'
                       'code.write(b"\\xeb\\xfe")\n'
                       'ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()\n')
    if os.uname().machine != 'x86_64':
        return
    done = run(dir / 'cache', '-e', SCRIPT, '-c', f'/usr/bin/python3 {program}')
    cases.check(is_fine(done), 'a fifo for the names of a JIT', done)
    for path in pathlib.Path('/tmp').glob('perf-*.map'):
        if path.is_fifo():
            path.unlink()


def probed(dir):
    os.mkfifo(dir / 'libfifo.so')
    done = run(dir / 'cache', '-e', f'uprobe:{dir}/libfifo.so:f {{ }}')
    cases.check(not isinstance(done, Exception) and done.returncode == 1, 'a fifo for a library', done)
    done = run(dir / 'cache', '--unwind', str(dir / 'libfifo.so'))
    cases.check(not isinstance(done, Exception) and done.returncode == 1, 'a fifo for a core file', done)
    done = run(dir / 'cache', '/dev/stdin', input='begin { printf("]: "); }')
    cases.check(is_fine(done), 'a script may be a pipe', done)


def full(dir):
    """A cache on a full disk: writes fail, or write only a part."""
    made = subprocess.run(['unshare', '-m', 'true'], capture_output=True, text=True)
    if made.returncode:  # for a root directory that is not a mount point
        cases.count += 1
        cases.failed += tap_fails(cases.count, 'a cache on a full disk', f'no mount namespace can be made here: {made.stderr.strip()}')
        return
    cache = dir / 'full'
    cache.mkdir()
    script = '\n'.join([f'mount -t tmpfs -o size=16k,mode=700 none {cache}',
                        f'export STRATA_CACHE_DIR={cache}'] +
                       [f"timeout 20 {STRATA} -e '{SCRIPT}' -c '{COMMAND}' >{dir}/out 2>&1 || exit" for _ in range(2)])
    done = subprocess.run(['unshare', '-m', 'sh', '-c', script])
    text = (dir / 'out').read_text()
    cases.check(done.returncode == 0 and ']: ' in text and 'error' not in text, 'a cache on a full disk', text[-2000:])


def main():
    with tempfile.TemporaryDirectory() as name:
        dir = pathlib.Path(name)
        cached(dir)
        perf_map(dir)
        probed(dir)
        full(dir)
    sys.exit(cases.done())


main()
