#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""has_frame_languages.py STRATA [CALLS] - conditions with has_frame() in programs of each language. A program calls
getpriority(WHICH, BASE + 1) below wanted(), and getpriority(WHICH, BASE) below other(), or lseek() with these offsets: each
event that strata decides must be on the right side, and all events are decided or counted."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests' / 'lib'), str(ROOT / 'tests' / 'unwind' / 'go'), str(ROOT / 'tests' / 'unwind' / 'v8'),
                *(str(ROOT / 'tests' / 'unwind' / name) for name in ('ruby', 'hotspot', 'php', 'lua', 'beam'))]
from absent import Missing, as_root
import beams
import binaries
import javas
import luas
import phps
import rubies
import tap
import toolchains

STRATA = os.path.realpath(sys.argv[1])
CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
BASE = 50000000  # above the largest process ID
RUST = '''extern "C" { fn getpriority(which: i32, who: u32) -> i32; }
#[inline(always)] fn keep(n: u32) { unsafe { std::ptr::read_volatile(&n); } }
#[inline(never)] fn leaf(n: u32) { unsafe { getpriority(0, 50000000 + n); } keep(n); }
#[inline(never)] fn wanted(n: u32) { leaf(n); keep(n); }
#[inline(never)] fn other(n: u32) { leaf(n); keep(n); }
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
CPP = '''#include <cstdlib>
#include <sys/resource.h>
namespace shop {
struct Cart { int n; __attribute__((noinline)) void leaf() const { getpriority(PRIO_PROCESS, 50000000 + n); asm volatile(""); } };
template <typename T> static inline void wanted(const T &t) { t.leaf(); asm volatile(""); } /* inlined */
__attribute__((noinline)) static void other(const Cart &c) { c.leaf(); asm volatile(""); }
}
int main(int, char **v)
{
	for (int i = 0, n = atoi(v[1]); i < n; i++)
		if (i % 3 == 0) shop::wanted(shop::Cart{1}); else shop::other(shop::Cart{0});
}
'''
JAVA = '''import java.io.RandomAccessFile;

public class Wanted {
    static RandomAccessFile file;

    static void leaf(int n) throws Exception { file.seek(50000000 + n); }

    static void wanted(int n) throws Exception { leaf(n); }

    static void other(int n) throws Exception { leaf(n); }

    public static void main(String[] words) throws Exception {
        file = new RandomAccessFile("/dev/zero", "r");
        for (int i = 0; i < Integer.parseInt(words[0]); i++)
            if (i % 3 == 0) wanted(1); else other(0);
    }
}
'''
PHP = '''<?php
class Cart {
    function __construct(public $file) { }
    function leaf($n) { fseek($this->file, 50000000 + $n); }
    function wanted($n) { $this->leaf($n); }
    function other($n) { $this->leaf($n); }
}
$cart = new Cart(fopen(__FILE__, 'r'));
for ($i = 0; $i < $argv[1]; $i++)
    if ($i % 3 == 0) $cart->wanted(1); else $cart->other(0);
'''
LUAJIT = '''local ffi = require('ffi')
ffi.cdef('int getpriority(int which, unsigned who);')
local function leaf(n) local e = ffi.C.getpriority(0, 50000000 + n) return e, 1 end
local function wanted(n) local e = leaf(n) return e, 1 end
local function other(n) local e = leaf(n) return e, 1 end
for i = 0, arg[1] - 1 do if i % 3 == 0 then wanted(1) else other(0) end end
'''
ERLANG = '''-module(wanted).
-export([main/1]).
main([Calls]) ->
    {ok, File} = file:open("/dev/zero", [raw, read]),
    loop(File, 0, list_to_integer(Calls)),
    halt(0).
loop(_, N, N) -> ok;
loop(File, I, N) ->
    case I rem 3 of 0 -> wanted(File, 1); _ -> other(File, 0) end,
    loop(File, I + 1, N).
leaf(File, N) -> {ok, _} = file:position(File, 50000000 + N), ok.
wanted(File, N) -> ok = leaf(File, N), N.
other(File, N) -> ok = leaf(File, N), N.
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


def cpp(where):
    subprocess.run(['g++', '-O2', '-g', '-o', where / 'wanted-cpp', written(where, 'wanted.cc', CPP)], check=True)
    return [where / 'wanted-cpp']


def java(where):
    return [*javas.command('17'), '-cp', javas.compiled(written(where, 'Wanted.java', JAVA), where), 'Wanted']


def php(where):
    return [*phps.command('8.2', 'plain'), written(where, 'w.php', PHP)]


def erlang(where):
    beams.compile_module(ERLANG_RELEASE, written(where, 'wanted.erl', ERLANG), where)
    return [beams.get(ERLANG_RELEASE), '-noshell', '-pa', where, '-run', 'wanted', 'main']


def interpreter(name, file, text):
    def find(where):
        if not shutil.which(name):
            raise Missing(f'there is no {name}')
        return [f'/usr/bin/{name}', written(where, file, text)]
    return find


ERLANG_RELEASE = 'bookworm'
PROGRAMS = [
    ('C++', cpp, 'shop::wanted*', 'getpriority'), ('Rust', rust, '*::wanted', 'getpriority'), ('Go', go, 'main.wanted', 'getpriority'),
    ('Python', interpreter('python3', 'w.py', PYTHON), 'wanted', 'getpriority'),
    ('Perl', interpreter('perl', 'w.pl', PERL), '*wanted', 'getpriority'),
    ('Ruby', lambda where: [rubies.get('3.1'), written(where, 'w.rb', RUBY)], '*wanted*', 'getpriority'),
    ('JavaScript', lambda where: [binaries.node('24'), written(where, 'w.js', NODE)], 'wanted', 'getpriority'),
    ('PHP', php, 'Cart::wanted', 'lseek'), ('Java', java, 'Wanted.wanted', 'lseek'),
    ('LuaJIT', lambda where: [luas.get('bookworm-luajit'), written(where, 'w.lua', LUAJIT)], '*wanted*', 'getpriority'),
    ('Erlang', erlang, 'wanted:wanted*', 'lseek'),
]
FIELD = {'getpriority': 'who', 'lseek': 'offset'}
SCRIPT = '''tracepoint:syscalls:sys_enter_CALL /args.FIELD >= BASE && args.FIELD <= BASE + 1 && has_frame(ustack, "PATTERN")/ {
    @yes[args.FIELD - BASE] = count();
}
tracepoint:syscalls:sys_enter_CALL /args.FIELD >= BASE && args.FIELD <= BASE + 1 && !has_frame(ustack, "PATTERN")/ {
    @no[args.FIELD - BASE] = count();
}
'''


def check(cases, name, command, pattern, call):
    text = SCRIPT.replace('CALL', call).replace('FIELD', FIELD[call]).replace('BASE', str(BASE)).replace('PATTERN', pattern)
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
        for name, build, pattern, call in PROGRAMS:
            try:
                command = build(pathlib.Path(directory))
            except Missing as why:
                if os.environ.get('CI'):
                    cases.check(False, name, why)
                else:
                    cases.skip(name, why)
                continue
            check(cases, name, command, pattern, call)
    return cases.done()


sys.exit(as_root(main))
