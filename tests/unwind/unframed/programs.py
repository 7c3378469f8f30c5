#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""programs.py - programs with much assembler and with no tables: 98 % of their stacks are whole, and the others have a
mark: libjpeg-turbo's cjpeg and djpeg, x264, ffmpeg, a static program with musl.

    programs.py STRATA      root; libjpeg-turbo-progs, x264, ffmpeg, musl-tools"""
import os
import pathlib
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA = str(pathlib.Path(sys.argv[1]).resolve())
SCRIPT = 'profile:hz:997 { @[comm, ustack] = count(); }'
ENDS = 'the process has given up its memory' # a sample while it exits
MUSL = r'''
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static char a[1 << 17], b[1 << 17];
__attribute__((noinline)) static void copies(void) { for (int i = 0; i < 200; i++) memcpy(a, b, 1 << 16); }
__attribute__((noinline)) static void sets(void) { for (int i = 0; i < 200; i++) memset(a, i, 1 << 16); }
__attribute__((noinline)) static void moves(void) { for (int i = 0; i < 200; i++) memmove(a + 16, a, 1 << 16); }
__attribute__((noinline)) static void prints(void)
{
	char t[64];
	for (int i = 0; i < 2000; i++)
		snprintf(t, sizeof(t), "%d %s %x", i, "x", i);
}
int main(void)
{
	for (clock_t t = clock(); clock() - t < 2000000;) {
		copies();
		sets();
		moves();
		prints();
	}
}
'''
LIBC = '/lib/x86_64-linux-gnu/libc.so.6'
OUTERMOST = []
cases = Cases()


def entry(program):
    head = subprocess.run(['readelf', '-h', program], capture_output=True, text=True, check=True).stdout
    return f'{pathlib.Path(program).name}+{re.search(r"Entry point address: +(0x[0-9a-f]+)", head)[1]}'


def outermost():
    """Returns the ranges of functions of the C library without a caller, such as clone3, which may have no name."""
    text = subprocess.run(['readelf', '--debug-dump=frames', '--debug-dump=no-follow-links', LIBC],
                          capture_output=True, text=True, check=True).stdout
    frames = re.findall(r' FDE .*pc=(\w+)\.\.(\w+)\n((?: .*\n)*)', text)
    return [range(int(start, 16), int(end, 16)) for start, end, rules in frames if re.search(r'DW_CFA_undefined: r16', rules)]


def is_outermost(frame, program):
    if re.fullmatch(rf'_start|\w*clone3?|{re.escape(entry(program))}', frame):
        return True
    found = re.fullmatch(r'libc\.so\.6\+0x([0-9a-f]+)', frame)
    return bool(found) and any(int(found[1], 16) in some for some in OUTERMOST)


def check(what, program, command, directory):
    name = pathlib.Path(program).name
    done = subprocess.run([STRATA, '-q', '-f', 'folded', '-e', SCRIPT, '-c', command], cwd=directory, capture_output=True,
                          text=True, timeout=200)
    total, bad, silent = 0, [], []
    for line in done.stdout.splitlines():
        stack, count = line.rsplit(' ', 1)
        comm, *frames = stack.split(';')
        if name[:15] not in comm or ENDS in stack or any('ld-linux' in frame or frame.startswith('_dl_') for frame in frames):
            continue
        total += int(count)
        if not is_outermost(frames[0], program):
            (bad if frames[0].startswith('[') else silent).extend([stack] * int(count))
    cases.check(total > 100 and len(bad) + len(silent) <= total / 50,
                f'{what}: {total} stacks, {len(bad)} are not whole', done.stderr, *bad[:5])
    cases.check(not silent, f'{what}: none of them is without a mark', *silent[:5])


def repeat(directory, name, line):
    script = pathlib.Path(directory) / name
    script.write_text(f'#!/bin/sh\nfor i in $(seq 20); do {line}; done\n')
    script.chmod(0o755)
    return script


def jpeg(directory):
    rng, size = random.Random(1), 1500
    with open(pathlib.Path(directory) / 'i.ppm', 'wb') as picture:
        picture.write(b'P6\n%d %d\n255\n' % (size, size) + bytes((x * y // 7 + rng.randrange(30)) & 255
                                                              for y in range(size) for x in range(size * 3)))
    subprocess.run(['cjpeg', '-outfile', 'i.jpg', 'i.ppm'], cwd=directory, check=True)
    check('cjpeg', shutil.which('cjpeg'), repeat(directory, 'c.sh', 'cjpeg -quality 90 -outfile /dev/null i.ppm'), directory)
    check('djpeg', shutil.which('djpeg'), repeat(directory, 'd.sh', 'djpeg -outfile /dev/null i.jpg'), directory)


def x264(directory):
    (pathlib.Path(directory) / 'i.yuv').write_bytes(random.Random(1).randbytes(320 * 240 * 3 // 2 * 60))
    check('x264', shutil.which('x264'), 'x264 --quiet --input-res 320x240 -o /dev/null i.yuv', directory)


def ffmpeg(directory):
    picture = pathlib.Path(directory) / 'f.yuv'
    picture.write_bytes(random.Random(1).randbytes(320 * 240 * 3 // 2 * 40))
    command = 'ffmpeg -loglevel quiet -threads 2 -f rawvideo -pix_fmt yuv420p -s 320x240 -stream_loop 4 -i f.yuv ' \
        '-vf scale=480x360 -c:v libx264 -preset veryfast -f matroska -y /dev/null'
    check('ffmpeg', shutil.which('ffmpeg'), command, directory)


def musl(directory):
    source, program = pathlib.Path(directory) / 'm.c', pathlib.Path(directory) / 'unframed_musl'
    source.write_text(MUSL)
    subprocess.run(['musl-gcc', '-static', '-O2', source, '-o', program], check=True)
    check('musl', program, program, directory)


def main():
    if os.geteuid() or platform.machine() != 'x86_64':
        print('1..0 # SKIP', 'needs root' if os.geteuid() else 'the code is for x86_64')
        return 0
    OUTERMOST.extend(outermost())
    with tempfile.TemporaryDirectory() as directory:
        for tool, package, run in (('cjpeg', 'libjpeg-turbo-progs', jpeg), ('x264', 'x264', x264), ('ffmpeg', 'ffmpeg', ffmpeg),
                                   ('musl-gcc', 'musl-tools', musl)):
            if shutil.which(tool):
                run(directory)
            else:
                cases.skip(tool, f'{package} is not installed')
    return cases.done()


sys.exit(main())
