#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arm64.py - code without tables of arm64 (arm64.S). Its rules equal those of the same code with tables, and stacks of
processes that died in it are whole, called from C with and without frame pointers and tables.

    arm64.py STRATA ROWS SOURCES      aarch64-linux-gnu-gcc, qemu-user; SOURCES: the folder of arm64.S"""
import bisect
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA, ROWS, SOURCES = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2], pathlib.Path(sys.argv[3])
COMPILER, EMULATOR = 'aarch64-linux-gnu-gcc', 'qemu-aarch64'
WAYS = {
    'frame pointers': ['-fno-omit-frame-pointer'],
    'no frame pointers': ['-fomit-frame-pointer'],
    'frame pointers, no tables': ['-fno-omit-frame-pointer', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables'],
    'no frame pointers, no tables': ['-fomit-frame-pointer', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables'],
}
SHAPES = 'leaf', 'pushes', 'sub', 'single', 'tail', 'loop', 'align', 'signed', 'table'
cases = Cases()


def build(program, *flags):
    subprocess.run([COMPILER, '-O2', '-g0', '-static', *flags, SOURCES / 'arm64.c', SOURCES / 'arm64.S', '-o', program], check=True)


def rules(program):
    """Returns the rule of each address, and the bounds of each shape, from a file."""
    lines = subprocess.run([ROWS, program], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = sorted((int(line.split()[0], 16), line.split(maxsplit=1)[1]) for line in lines if not line.startswith('function'))
    symbols = subprocess.run(['readelf', '-sW', program], capture_output=True, text=True, check=True).stdout
    bounds = {name: (int(at, 16), int(size)) for at, size, name in re.findall(r'(\w{16}) +(\d+) FUNC .* arm_(\w+)\n', symbols)}
    starts = [row[0] for row in rows]
    return lambda at: rows[bisect.bisect_right(starts, at) - 1][1], bounds


def compare(directory):
    build(directory / 'with', '-DTABLES')
    build(directory / 'without')
    (truth, at), (found, where) = rules(directory / 'with'), rules(directory / 'without')
    for shape in SHAPES:
        differ = [(hex(i), truth(at[shape][0] + i), found(where[shape][0] + i)) for i in range(0, at[shape][1], 4)
                  if shape != 'table' and truth(at[shape][0] + i) != found(where[shape][0] + i)]
        cases.check(not differ and at[shape][1] > 8, f'{shape}: all rules are those of its table', *map(str, differ[:5]))


def add_files(core, program):
    """Adds to a core of qemu's what one of Linux has: a note with the mapped files, here the segments of a static program."""
    data, exe = bytearray(core.read_bytes()), program.read_bytes()

    def segments(of):
        at, = struct.unpack_from('<Q', of, 32)
        for i in range(*struct.unpack_from('<H', of, 56)):
            yield at + 56 * i, struct.unpack_from('<IIQQQQQQ', of, at + 56 * i)

    files = [(vaddr & ~4095, -(-(vaddr + filesz) // 4096) * 4096, offset // 4096)
             for _, (kind, _, offset, vaddr, _, filesz, _, _) in segments(exe) if kind == 1]
    note = struct.pack('<QQ', len(files), 4096) + b''.join(struct.pack('<QQQ', *file) for file in files) + \
        (str(program).encode() + b'\0') * len(files)
    note = struct.pack('<III8s', 5, len(note), 0x46494c45, b'CORE') + note + b'\0' * (-len(note) % 4)
    at, (_, _, offset, _, _, size, _, _) = next(s for s in segments(data) if s[1][0] == 4)
    notes = bytes(data[offset:offset + size]) + note
    struct.pack_into('<Q', data, at + 8, len(data))
    struct.pack_into('<Q', data, at + 32, len(notes))
    core.write_bytes(data + notes)


def dies(directory, program, shape, inside):
    for old in directory.glob('*.core'):
        old.unlink()
    subprocess.run([EMULATOR, program, shape, *['in'] * inside], cwd=directory, capture_output=True)
    core = next(directory.glob('*.core'), None)
    if not core:
        return ['no core']
    add_files(core, program)
    done = subprocess.run([STRATA, '--unwind', core, '--exe', program], capture_output=True, text=True)
    return [re.sub(r'[+ ].*', '', line.strip()) for line in done.stdout.splitlines() if line.strip() and not line.startswith(('Process', 'Thread'))] + done.stderr.splitlines()


def wanted(shape, inside):
    innermost = [] if shape == 'leaf' else ['arm_' + shape] if inside else ['arm_leaf'] + ['arm_' + shape] * (shape != 'tail')
    return (['arm_leaf'] if shape == 'leaf' else innermost) + ['call_' + shape, 'main']


def whole(stack, want):
    return stack[:len(want)] == want and stack[-1] == '_start' and not any(line.startswith('[') for line in stack)


def main():
    if not shutil.which(COMPILER) or not shutil.which(EMULATOR):
        print(f'1..0 # SKIP {COMPILER} or {EMULATOR} is not installed')
        return 0
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        compare(directory)
        for n, (what, flags) in enumerate(WAYS.items()):
            program = directory / f'arm64-{n}'
            build(program, *flags)
            stacks = {(shape, inside): dies(directory, program, shape, inside) for shape in SHAPES for inside in (True, False)}
            bad = [f'{shape}: {stack}' for (shape, inside), stack in stacks.items() if not whole(stack, wanted(shape, inside))]
            cases.check(not bad, f'{what}: {len(stacks)} stacks, {len(bad)} are not whole', *bad[:5])
    return cases.done()


sys.exit(main())
