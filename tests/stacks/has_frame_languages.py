#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""has_frame_languages.py STRATA [CALLS] - conditions with has_frame() in programs of each language. A program calls
getpriority(WHICH, BASE + 1) below wanted(), and getpriority(WHICH, BASE) below other(): each event that strata decides must be
on the right side, and all events are decided or counted."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests' / 'lib'), str(ROOT / 'tests' / 'unwind' / 'go'), str(ROOT / 'tests' / 'unwind' / 'v8'),
                str(ROOT / 'tests' / 'unwind' / 'ruby')]
from absent import Missing, as_root
import binaries
import rubies
import tap
import toolchains

STRATA = os.path.realpath(sys.argv[1])
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
BASE = 50000000  # above the largest process ID
RUST = '''extern "C" { fn getpriority(which: i32, who: u32) -> i32; }
#[inline(never)] fn leaf(n: u32) { unsafe { getpriority(0, 50000000 + n); } std::hint::black_box(n); }
#[inline(never)] fn wanted(n: u32) { leaf(n); std::hint::black_box(n); }
#[inline(never)] fn other(n: u32) { leaf(n); std::hint::black_box(n); }
fn main() {
    let calls: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    for i in 0..calls { if i % 3 == 0 { wanted(1) } else { other(0) } }
}
'''
GO = '''package main

import (
	"os"
	"strconv"
	"syscall"
)

//go:noinline
func leaf(n int) { syscall.Syscall(syscall.SYS_GETPRIORITY, 0, uintptr(50000000+n), 0) }

//go:noinline
func wanted(n int) { leaf(n) }

//go:noinline
func other(n int) { leaf(n) }

func main() {
	calls, _ := strconv.Atoi(os.Args[1])
	for i := 0; i < calls; i++ {
		if i%3 == 0 {
			wanted(1)
		} else {
			other(0)
		}
	}
}
'''
PYTHON = '''import os, sys
def leaf(n):
    try: os.getpriority(0, 50000000 + n)
    except OSError: pass
def wanted(n): leaf(n)
def other(n): leaf(n)
for i in range(int(sys.argv[1])):
    wanted(1) if i % 3 == 0 else other(0)
'''
RUBY = '''def leaf(n)
  Process.getpriority(0, 50000000 + n)
rescue SystemCallError
end
def wanted(n) = leaf(n)
def other(n) = leaf(n)
ARGV[0].to_i.times { |i| i % 3 == 0 ? wanted(1) : other(0) }
'''
PERL = '''sub leaf { getpriority(0, 50000000 + $_[0]); return 0 }
sub wanted { leaf($_[0]); return 0 }
sub other { leaf($_[0]); return 0 }
for my $i (0 .. $ARGV[0] - 1) { $i % 3 == 0 ? wanted(1) : other(0) }
'''
NODE = '''const os = require('node:os');
function leaf(n) { try { os.getPriority(50000000 + n); } catch (e) { } }
function wanted(n) { leaf(n); }
function other(n) { leaf(n); }
for (let i = 0; i < Number(process.argv[2]); i++)
    if (i % 3 === 0) wanted(1); else other(0);
'''


def written(where, name, text):
    (where / name).write_text(text)
    return where / name


def rust(where):
    if not shutil.which('rustc'):
        raise Missing('there is no rustc')
    source = written(where, 'wanted.rs', RUST)
    subprocess.run(['rustc', '-O', '-g', '-o', where / 'wanted-rust', source], check=True)
    return [where / 'wanted-rust']


def go(where):
    toolchains.build('1.27', where / 'wanted-go', [written(where, 'main.go', GO)])
    return [where / 'wanted-go']


def interpreter(name, file, text):
    def find(where):
        if not shutil.which(name):
            raise Missing(f'there is no {name}')
        return [f'/usr/bin/{name}', written(where, file, text)]
    return find


PROGRAMS = [
    ('Rust', rust, '*::wanted'), ('Go', go, 'main.wanted'), ('Python', interpreter('python3', 'w.py', PYTHON), 'wanted'),
    ('Perl', interpreter('perl', 'w.pl', PERL), '*wanted'), ('Ruby', lambda where: [rubies.get('3.1'), written(where, 'w.rb', RUBY)], '*wanted*'),
    ('JavaScript', lambda where: [binaries.node('24'), written(where, 'w.js', NODE)], 'wanted'),
]
SCRIPT = '''tracepoint:syscalls:sys_enter_getpriority /args.who >= %d && has_frame(ustack, "%s")/ { @yes[args.who - %d] = count(); }
tracepoint:syscalls:sys_enter_getpriority /args.who >= %d && !has_frame(ustack, "%s")/ { @no[args.who - %d] = count(); }
'''


def check(cases, name, command, pattern):
    text = SCRIPT % (BASE, pattern, BASE, BASE, pattern, BASE)
    words = ' '.join(str(word) for word in [*command, CALLS])
    done = subprocess.run([STRATA, '-c', words, '-e', text], capture_output=True, text=True, cwd='/tmp')
    found = {(side, int(n)): int(count) for side, n, count in re.findall(r'^@(yes|no)\[(\d)\]: (\d+)$', done.stdout, re.M)}
    undecided = sum(map(int, re.findall(r'(\d+) events? w(?:as|ere) not decided', done.stderr)))
    wanted = (CALLS + 2) // 3
    wrong = found.get(('yes', 0), 0) + found.get(('no', 1), 0)
    cases.check(not wrong and 'lost' not in done.stderr, f'{name}: no event is on the wrong side', found, done.stderr)
    cases.check(found.get(('yes', 1), 0) + found.get(('no', 0), 0) + undecided // 2 == CALLS,
                f'{name}: all {CALLS} events are decided ({wanted} below wanted) or counted', found, done.stderr)


def main():
    cases = tap.Cases()
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        for name, build, pattern in PROGRAMS:
            try:
                command = build(pathlib.Path(directory))
            except Missing as why:
                if os.environ.get('CI'):
                    cases.check(False, name, why)
                else:
                    cases.skip(name, why)
                continue
            check(cases, name, command, pattern)
    return cases.done()


sys.exit(as_root(main))
