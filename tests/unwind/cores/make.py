#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make.py - records the cores for replay.py: Go programs of several versions print a stack and then
dump core in it, in an emulated arm64 machine. slim removes the parts that walks and names do not need.

    make.py SLIM [PROGRAM...]      writes PROGRAM.exe.xz, PROGRAM.WHICH-HOW.core.xz and .account here"""
import base64
import io
import lzma
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
GO = HERE.parent / 'go'
sys.path[:0] = [str(GO), str(HERE.parents[1] / 'vm')]
import machine
import toolchains

SOURCES = [GO / 'program.go', GO / 'core.go']
CGO = [*SOURCES, GO / 'cgo.go']
SMALL = ('-trimpath',)
STATIC = ('-trimpath', '-ldflags=-linkmode=external -extldflags=-static')
PROGRAMS = {
    'go1.19-arm64': ('1.19', SOURCES, SMALL),
    'go1.23-arm64': ('1.23', SOURCES, SMALL),
    'go1.27-arm64': ('1.27', SOURCES, SMALL),
    'go1.27-cgo-arm64': ('1.27', CGO, STATIC),
}
CASES = [(3, 'call'), (25, 'leaf'), (60, 'copy'), (120, 'call'), (200, 'copy'), (280, 'leaf')]

# Only printed text leaves the emulated machine: files are sent as text, without their pages of zeros.
PACK = r'''
import base64, os, pickle, resource, subprocess, sys, zlib
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
open('/proc/sys/kernel/core_pattern', 'w').write('/tmp/core')

def pages(f, end):
    at = 0
    while at < end:
        try:
            at = os.lseek(f.fileno(), at, os.SEEK_DATA)
        except OSError:
            return
        page = os.pread(f.fileno(), 4096, at)
        if page.strip(b'\0'):
            yield at, page
        at += 4096

def packed(path):
    with open(path, 'rb') as f:
        end = os.fstat(f.fileno()).st_size
        return end, list(pages(f, end))

def send(name, what):
    print('sent', name)
    text = base64.b64encode(zlib.compress(pickle.dumps(what), 1)).decode()
    for at in range(0, len(text), 3000):
        print(text[at:at + 3000])
    print('.', flush=True)
'''

INSIDE = PACK + r'''
for line in sys.stdin.read().splitlines():
    program, which, how = line.split()
    account = subprocess.run([program, '600', '300', which, how], input=b'go\n', stdout=subprocess.PIPE, cwd='/tmp').stdout
    send(f'{os.path.basename(program)}.{which}-{how}', (account, packed('/tmp/core')))
    os.unlink('/tmp/core')
'''


def unpacked(file):
    end, kept = file
    data = bytearray(end)
    for at, page in kept:
        data[at:at + len(page)] = page
    return data


def sent(text):
    """(name, content) of each file that the machine sent."""
    for name, body in re.findall(r'^sent (\S+)\r?\n(.*?)^\.\r?$', text, re.M | re.S):
        yield name, pickle.loads(zlib.decompress(base64.b64decode(body)))


def boot(programs):
    """(name, program, (its own account, its core)) of each case."""
    cases = '\n'.join(f'/cores/{p} {which} {how}' for p in programs for which, how in CASES)
    with tempfile.TemporaryDirectory() as tree:
        for name in programs:
            version, sources, flags = PROGRAMS[name]
            toolchains.build(version, pathlib.Path(tree, name), sources, cgo=sources is CGO, arch='arm64', flags=flags)
        pathlib.Path(tree, 'inside.py').write_text(INSIDE)
        pathlib.Path(tree, 'cases').write_text(cases)
        out = io.StringIO()
        if machine.boot('arm64', 'trixie', tree, 'python3 inside.py <cases', at='/cores', out=out):
            sys.exit(out.getvalue()[-2000:])
        exes = {name: pathlib.Path(tree, name).read_bytes() for name in programs}
    for name, what in sent(out.getvalue()):
        yield name, exes[name.rpartition('.')[0]], what


def slimmed(slim, kind, *files):
    with tempfile.TemporaryDirectory() as d:
        for n, data in enumerate(files):
            pathlib.Path(d, str(n)).write_bytes(data)
        subprocess.run([slim, kind, *(f'{d}/{n}' for n in range(len(files))), f'{d}/new'], check=True)
        return pathlib.Path(d, 'new').read_bytes()


def write(name, data):
    path = HERE / name
    path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    print(f'{name}: {path.stat().st_size} bytes', flush=True)


def main(slim, *programs):
    for name, exe, (account, core) in boot(programs or PROGRAMS):
        program = name.rpartition('.')[0]
        if not (HERE / f'{program}.exe.xz').exists():
            write(f'{program}.exe.xz', slimmed(slim, 'exe', exe))
        write(f'{name}.core.xz', slimmed(slim, 'core', unpacked(core), exe))
        (HERE / f'{name}.account').write_bytes(account)


if __name__ == '__main__':
    main(*sys.argv[1:])
