#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""live.py STRATA - arguments of running programs in C, C++ and Rust, by name, are the values of the calls; and
the messages about missing debug information.

    live.py --build ARCH     only builds the programs, for a machine without compilers"""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

MADE = pathlib.Path(__file__).resolve().parents[3] / 'build' / 'types' / 'live'

C_ABI = r'''
struct point { int x, y; };
struct big { long a, b, c; };
struct pair { long a; char b[8]; };
#define USE(x) __asm__ volatile("" :: "r"((long)(x)))
#define FUNCTION __attribute__((noinline, noclone))
FUNCTION long f(struct point p, double d, int n, struct big big, int last)
{ USE(n); USE(last); return p.x + n + big.a + d; }
FUNCTION struct big make(long from, int k) { USE(k); return (struct big){ from, k, 0 }; }
FUNCTION long many(int a, int b, int c, int d, int e, int f, int g, long h, char i, int j)
{ USE(b); USE(c); USE(d); USE(e); USE(f); USE(i); USE(j); return a + g + h; }
FUNCTION long two(struct pair p, float f, struct pair *q) { USE(q); return p.a + p.b[0]; }
int main(void)
{
	struct pair p = { 10, "text" };
	return f((struct point){ 1, 2 }, 2.5, 3, (struct big){ 7, 8, 9 }, 4) + make(5, 6).b +
		many(1, 2, 3, 4, 5, 6, -7, 8, 'z', 9) + two(p, 1, &p) == 0;
}
'''
C_OWN = r'''
#include <stdio.h>
static __attribute__((noinline)) int own(int dead, int used, int five)
{ __asm__ volatile("" :: "r"(used)); return used * five; }
static inline int small(int k) { __asm__ volatile("" :: "r"(k)); return k; }
int (*address)(int) = small;
__attribute__((cold, noinline)) void rare(int k) { printf("%d\n", k); }
__attribute__((noinline)) int split(int k, char *s) { if (k > 99) { rare(k); rare(k + 1); } return k + *s; }
int main(int argc, char **argv)
{ return split(argc + 6, argv[0]) + own(1, argc + 40, 5) + own(2, argc + 41, 5) + small(argc) + address(argc) == 0; }
'''
CPP = r'''
#include <cstdint>
#define FUNCTION __attribute__((noinline))
#define USE(x) __asm__ volatile("" :: "r"(&x) : "memory")
enum class color : uint8_t { red, green = 200 };
struct base { long id; };
struct derived : base { int own; FUNCTION int method(int k, const derived &from); };
struct owner { int *p; int n; FUNCTION ~owner() { USE(p); } };
int derived::method(int k, const derived &from) { USE(*this); USE(k); USE(from); return k; }
FUNCTION owner make(owner o, int n, color c) { USE(o); USE(n); USE(c); return owner{nullptr, n}; }
int main()
{
	derived a, b; a.id = 5; a.own = 6; b.id = 7; b.own = 8;
	int k = a.method(3, b);
	make(owner{&k, 9}, 4, color::green);
}
'''
RUST_GONE = r'''
#[inline(never)] fn text(s: &str, xs: &[u32], k: usize) -> usize { println!("{}", s); k + xs.len() }
fn main() { println!("{}", text("hello", &[1, 2], std::env::args().count() + 8)); }
'''
RUST = r'''
pub struct Point { pub x: i32, pub y: i64 }
#[inline(never)] #[no_mangle]
pub fn look(p: &Point, n: u8, name: &str) -> i64 { println!("{}", name.len()); p.x as i64 + p.y + n as i64 }
fn main() { println!("{}", look(&Point { x: -1, y: 2 }, 3, "four")); }
'''

# (title, compiler, flags, file, program, script, output of strata)
CASES = [
    ('values, structs and the stack', 'gcc', ['-O1'], 'abi.c', C_ABI,
     'uprobe:P:f { print((args.n, args.last)); print(args.p); print(args.big); }'
     'uprobe:P:make { print(args); }'
     'uprobe:P:many { print(args); }'
     'uprobe:P:two { print(args.p); print(*args.q); print(args.p.b); }'
     'uretprobe:P:many { print(retval); }'
     'uretprobe:P:two { print(retval); }',
     ['(3, 4)', '{ .x = 1, .y = 2 }', '{ .a = 7, .b = 8, .c = 9 }', '{ .from = 5, .k = 6 }',
      '{ .a = 1, .b = 2, .c = 3, .d = 4, .e = 5, .f = 6, .g = -7, .h = 8, .i = 122, .j = 9 }',
      '2', '{ .a = 10, .b = text }', '{ .a = 10, .b = text }', 'text', '126']),
    ('functions that the compiler has changed or split', 'gcc', ['-O2'], 'own.c', C_OWN,
     'uprobe:P:own.constprop.0 { print(args.used); } uprobe:P:split { print(args.k); }', ['7', '41', '42']),
    ('methods, bases and references', 'g++', ['-O1'], 'classes.cc', CPP,
     'uprobe:P:*method* { print((args.this->id, args.this->own, args.k, args.from->id, args.from->own)); '
     'print(((struct derived *)arg2)->own); }'
     'uprobe:P:_Z4make* { print((args.o.n, args.n)); print(args.c); }',
     ['(5, 6, 3, 7, 8)', '8', '(9, 4)', 'green']),
    ('Rust', 'rustc', [], 'look.rs', RUST,
     'uprobe:P:look { print((args.p->x, args.p->y, args.n, args.name.length)); '
     'print(str(args.name.data_ptr, args.name.length + 1)); print(((struct Point *)arg0)->y); }',
     ['(-1, 2, 3, 4)', 'four', '2']),
    ('Rust, optimised', 'rustc', ['-O'], 'gone.rs', RUST_GONE, 'uprobe:P:*text* { print(args.k); }', ['9']),
]
# (title, flags, commands on the program, script, parts of the messages)
SAID = [
    ('no debug information', [], [], 'uprobe:P:two { print(args.f); }',
     ['no debug information', 'compile with -g, or install its -dbgsym or -debuginfo package']),
    ('no such argument', ['-g'], [], 'uprobe:P:make { print(args.form); }', ['args has no field form', 'args.from']),
    ('not where it begins', ['-g'], [], 'uprobe:P:make+1 { print(args.k); }', ['they are known only where a function begins']),
    ('in a floating-point register', ['-g'], [], 'uprobe:P:two { print(args.f); }', ['floating-point register']),
]
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(platform.machine(), platform.machine())
SLOW = int(os.environ.get('STRATA_SLOW', 1))
number = 0
failed = False


def report(title, wrong, skipped=None):
    global number, failed
    number += 1
    failed |= bool(wrong)
    print(f'{"not " if wrong else ""}ok {number} - {title}' + (f' # SKIP {skipped}' if skipped else ''))
    for line in wrong:
        print('#', line)


def build(folder, compiler, flags, file, text, name='prog'):
    (folder / file).write_text(text)
    subprocess.run([compiler, *flags, '-o', folder / name, folder / file], check=True)
    return folder / name


def made_name(flags, file):
    return pathlib.Path(file).stem + ('.debug' if '-g' in flags else '')


def programs():
    """Yields (compiler, flags, file, text) of each program, once."""
    wanted = [(compiler, ['-g', *flags], file, text) for _, compiler, flags, file, text, *_ in CASES]
    wanted += [('gcc', ['-O1', *flags], 'abi.c', C_ABI) for _, flags, *_ in SAID]
    return {made_name(flags, file): (compiler, flags, file, text) for compiler, flags, file, text in wanted}


def build_all(arch):
    """Builds the programs for other machines, several at the same time; find() looks for these file names there."""
    (MADE / arch).mkdir(parents=True, exist_ok=True)
    prefix = 'aarch64-linux-gnu-' if arch == 'arm64' and platform.machine() == 'x86_64' else ''
    for name, (compiler, flags, file, text) in programs().items():
        if not shutil.which(prefix + compiler):
            continue
        with tempfile.TemporaryDirectory(dir=MADE) as folder:
            build(pathlib.Path(folder), prefix + compiler, flags, file, text, name).replace(MADE / arch / name)
        print(MADE / arch / name)


def find(folder, compiler, flags, file, text):
    """Returns the program, built now or before, or None without a compiler."""
    if shutil.which(compiler):
        return build(folder, compiler, flags, file, text)
    made = MADE / ARCH / made_name(flags, file)
    return made if made.exists() else None


def run(strata, script, program, *more):
    return subprocess.run([strata, *more, '-e', script.replace(':P:', f':{program}:'), '-c', str(program)],
                          capture_output=True, text=True, timeout=60 * SLOW)


def live(strata):
    for title, compiler, flags, file, text, script, wanted in CASES:
        if os.geteuid():
            report(title, [], 'needs root')
            continue
        with tempfile.TemporaryDirectory(prefix='dwarf') as folder:
            folder = pathlib.Path(folder)
            program = find(folder, compiler, ['-g', *flags], file, text)
            if not program:
                report(title, [], f'no {compiler}')
                continue
            done = run(strata, script, program, '-q', '-o', folder / 'out')
            have = (folder / 'out').read_text().split('\n') if (folder / 'out').exists() else []
            have = [line for line in have if line]
            report(title, [] if have == wanted else
                   [f'wanted {wanted}', f'printed {have}', *done.stderr.splitlines()])


def said(strata):
    for title, flags, commands, script, parts in SAID:
        with tempfile.TemporaryDirectory(prefix='dwarf') as folder:
            program = find(pathlib.Path(folder), 'gcc', ['-O1', *flags], 'abi.c', C_ABI)
            if not program:
                report(title, [], 'no gcc')
                continue
            # --unsafe: within an instruction, too
            done = subprocess.run([strata, '--unsafe', '-d', 'image', '-e', script.replace(':P:', f':{program}:')],
                                  capture_output=True, text=True, timeout=60 * SLOW)
            missing = [p for p in parts if p not in done.stderr]
            report(title, [f'not said: {p}' for p in missing] and
                   [f'not said: {missing}', *done.stderr.splitlines()])


def main():
    if sys.argv[1] == '--build':
        build_all(sys.argv[2])
        return
    strata = os.path.abspath(sys.argv[1])
    print(f'1..{len(CASES) + len(SAID)}')
    live(strata)
    said(strata)
    sys.exit(failed)


main()
