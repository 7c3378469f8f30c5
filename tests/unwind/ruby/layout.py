#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layout.py LAYOUT [RUBY...] - the numbers of collections and the collector's state in the memory of a Ruby, at the places
that strata finds in its code, next to what GC.stat says. Prints TAP."""
import pathlib
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import rubies

LAYOUT, NAMES = sys.argv[1], sys.argv[2:]
PROGRAM = '''200.times { Array.new(2000) { |i| "x#{i}" } }
3.times { GC.start }
GC.disable
puts [GC.count, GC.stat(:minor_gc_count), GC.stat(:major_gc_count)].join(' ')
$stdout.flush
$stdin.read'''


def library(pid):
    """Returns the path and the bias of the file with the interpreter."""
    for line in pathlib.Path(f'/proc/{pid}/maps').read_text().split('\n'):
        words = line.split()
        if len(words) > 5 and 'libruby' in words[5] and int(words[2], 16) == 0:
            return f'/proc/{pid}/root{words[5]}', int(words[0].partition('-')[0], 16)
    return f'/proc/{pid}/exe', 0


def look(cases, name):
    with subprocess.Popen([rubies.get(name), '-e', PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ruby:
        said = [int(word) for word in ruby.stdout.readline().split()]
        path, bias = library(ruby.pid)
        found = subprocess.run([LAYOUT, path], capture_output=True, text=True).stdout.split()
        vm, heap, flags, counts, major, n = map(int, found)
        with open(f'/proc/{ruby.pid}/mem', 'rb', 0) as memory:
            def read(addr, size):
                memory.seek(addr)
                return memory.read(size)

            def word(addr):
                return struct.unpack('<Q', read(addr, 8))[0]
            at = word(word(bias + vm) + heap) if vm else 0
            numbers = struct.unpack(f'<{n}Q', read(at + counts, 8 * n)) if at else ()
            mode = read(at + flags, 1)[0] & 3 if at else 3
        ruby.communicate()
    cases.check(at and [numbers[-1], numbers[major - 1], numbers[major]] == said and mode in (0, 2),
                f'{name}: {said[0]} collections, {said[2]} of them major', found, numbers, mode)


sys.exit(accounts.each(NAMES or rubies.names(), rubies.get, look))
