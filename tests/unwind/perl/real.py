#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""real.py - samples exiftool of Debian, a program in Perl with modules in C, while it reads pictures, libraries and archives.

    real.py STRATA SECONDS [VERSION]...

99 % of the stacks are whole: they end with the main program of exiftool and the thread's start. Each sub was called where it
says: the lines of the caller, from there on, have its name, or a call whose target is a variable."""
import collections
import functools
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'lib')]
import absent
import perls

SCRIPT = 'profile:hz:199 { @[ustack] = count(); } interval:s:%d { exit(); }'
STACK = re.compile(r'^@\[\n(.*?)^\]: (\d+)$', re.M | re.S)
FRAME = re.compile(r'(\S+) (/\S+|\(eval \d+\)):(\d+)(?:-(\d+))?$')
DYNAMIC = re.compile(r'&\$|&\{|->\$|\beval\b')
CALL_LINES = 12  # of the longest statements
WANTED = ('main::GetImageInfo', 'Image::ExifTool::ExtractInfo', 'Image::ExifTool::PNG::ProcessPNG', 'Image::ExifTool::XMP::ParseXMPElement')
PASSES = 20000


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def picture(n):
    """Returns a PNG picture with a compressed comment, titles and keywords."""
    titles = ''.join(f'<rdf:li xml:lang="x-{i}">title {i * n}</rdf:li>' for i in range(40))
    words = ''.join(f'<rdf:li>keyword {i}</rdf:li>' for i in range(60))
    xmp = ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
           f'rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt>{titles}</rdf:Alt></dc:title><dc:subject>'
           f'<rdf:Bag>{words}</rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>').encode()
    return b''.join([b'\x89PNG\r\n\x1a\n', chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)),
                     chunk(b'zTXt', b'Comment\0\0' + zlib.compress(b'a comment ' * 2000)),
                     chunk(b'iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + xmp), chunk(b'IDAT', zlib.compress(b'\0\0')), chunk(b'IEND', b'')])


def write_files(directory, root):
    """Writes pictures and the list of files to read, which has each of them many times. Returns the list's path."""
    names = [f'{directory}/{n}.png' for n in range(20)]
    for n, name in enumerate(names):
        pathlib.Path(name).write_bytes(picture(n))
    names += ['/' + str(path.relative_to(root)) for path in sorted((root / 'usr/lib/x86_64-linux-gnu').glob('lib*.so.*'))[:10]]
    names += ['/' + str(path.relative_to(root)) for path in sorted((root / 'usr/share/doc').glob('*/*.gz'))[:10]]
    (directory / 'files').write_text('\n'.join(names * (PASSES // len(names))))
    return directory / 'files'


def sampled(strata, seconds, name, root):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        files = write_files(pathlib.Path(directory), root)
        program = subprocess.Popen(['env', 'LC_ALL=C', perls.get(f'exiftool-{name}'), '/usr/bin/exiftool', '-a', '-G', '-struct', '-sort',
                                    '-@', files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd='/tmp')
        program.stdout.readline()
        drain = subprocess.Popen(['cat'], stdin=program.stdout, stdout=subprocess.DEVNULL)
        try:
            done = subprocess.run([strata, '-p', str(program.pid), '-e', SCRIPT % seconds], capture_output=True, text=True,
                                  errors='replace', check=True)
        finally:
            program.kill()
            program.wait()
            program.stdout.close()
            drain.wait()
    return done.stdout


@functools.cache
def source(root, path):
    return (root / path[1:]).read_text(errors='replace').splitlines()


def calls(root, caller, callee):
    """Returns whether the caller's source has a call of the callee there."""
    if caller[2].startswith('('):
        return True  # the text of an eval
    line = int(caller[3])
    text = '\n'.join(source(root, caller[2])[line - 1:line - 1 + CALL_LINES])
    name = callee[1].split('::')[-1].strip('()')
    if name == '__ANON__':
        return True  # it can have any name: constants of a module are such subs
    return name in text or (name == 'import' and 'use ' in text) or bool(DYNAMIC.search(text))


def judge(root, lines):
    """Returns 'whole', or what is wrong."""
    frames = [found for found in map(FRAME.match, lines) if found]
    if lines[-1].startswith('['):
        return lines[-1]
    if not frames or frames[-1][1] != '(main)' or not lines[-1].startswith('_start'):
        return 'it does not end with the program'
    wrong = [f'{callee[0]} called by {caller[0]}' for callee, caller in zip(frames, frames[1:]) if not calls(root, caller, callee)]
    return wrong[0] if wrong else 'whole'


def check(strata, seconds, name):
    root = perls.get(f'exiftool-{name}').parent / 'root'
    tally, seen, worst = collections.Counter(), collections.Counter(), {}
    for text, n in STACK.findall(sampled(strata, seconds, name, root)):
        lines = [line.strip() for line in text.splitlines()]
        what = judge(root, lines)
        tally[what] += int(n)
        worst[what] = text
        seen.update({sub: int(n) for sub in WANTED if sub in text})
    total, whole = sum(tally.values()), tally.pop('whole', 0)
    wrong = sum(n for what, n in tally.items() if not what.startswith('['))
    fine = total > 50 * seconds and whole >= 0.99 * total and not wrong and all(seen[sub] > total / 100 for sub in WANTED)
    print(f'{"ok" if fine else "not ok"} {name}: {total} samples of exiftool, {100 * whole / max(total, 1):.2f} % whole, {wrong} wrong',
          dict(seen), flush=True)
    for what, n in tally.most_common(3):
        print(f'  {n}: {what}\n{worst[what]}')
    return fine


def main(strata, seconds, *names):
    failed = False
    for name in names or ('5.36', '5.40'):
        try:
            failed |= not check(strata, int(seconds), name)
        except absent.Missing as e:
            failed |= absent.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
