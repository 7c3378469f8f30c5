#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - programs that keep account of the functions that they run, most of which are inlined: each stack that
strata shows equals the account.

    account.py STRATA [SAMPLES]      root"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
from tap import Cases

STRATA = sys.argv[1]
SAMPLES = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
FUNCTIONS = 20
cases = Cases()
HEAD = {
    'c': r'''
#include <stdlib.h>
#include <string.h>
static const char *names[256];
static unsigned depth;
static volatile unsigned sink;
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline)) void account_point(const char *text)
{
	sink += *text;
	__asm__ volatile("" :: "r"(text) : "memory");
}
static void sample(void)
{
	char text[4096] = "";
	for (unsigned i = depth; i-- > 0;) {
		strcat(text, names[i]);
		strcat(text, " ");
	}
	account_point(text);
}
''',
    'rs': r'''
use std::cell::RefCell;
// As std::hint::black_box(), which Rust 1.63 of Debian 12 does not have.
#[inline(always)] fn black_box<T>(x: T) -> T { unsafe { let y = std::ptr::read_volatile(&x); std::mem::forget(x); y } }
thread_local! { static NAMES: RefCell<Vec<&'static str>> = RefCell::new(Vec::new()); }
#[inline(never)] #[no_mangle] pub extern "C" fn account_point(text: *const u8) { black_box(text); }
#[inline(never)] fn text() -> Vec<u8> {
    let mut t = String::new();
    NAMES.with(|n| for s in n.borrow().iter().rev() { t.push_str(s); t.push(' '); });
    t.push('\0');
    t.into_bytes()
}
#[inline(always)] fn sample() { let t = text(); account_point(t.as_ptr()); black_box(t); }
#[inline(never)] fn enter(name: &'static str) { NAMES.with(|n| n.borrow_mut().push(name)) }
#[inline(never)] fn leave() { NAMES.with(|n| { n.borrow_mut().pop(); }) }
''',
}


def calls_of(i, rng):
    """A function calls later ones, so that there is no recursion."""
    later = range(i + 1, min(i + 8, FUNCTIONS))
    return sorted(rng.sample(later, min(len(later), 2)))


def c_program(rng, cxx):
    out = [HEAD['c']]
    for i in reversed(range(FUNCTIONS)):
        inline = i and rng.random() < 0.75
        how = 'static inline __attribute__((always_inline))' if inline else 'static __attribute__((noinline))'
        body = ''.join(f'\tif (which & {1 << k % 30}u) {call_c(k, cxx)}(which * 5 + {k});\n' for k in calls_of(i, rng))
        name = f'f{i}' if not cxx or i % 2 else 'run'
        text = f'{how} void {name}(unsigned which)\n{{\n\tnames[depth++] = "f{i}";\n\tsample();\n{body}\tdepth--;\n}}\n'
        if cxx and not i % 2:
            text = f'template <int N> struct f{i} {{\n{text}}};\n'
        out.append(text)
    out.append(f'int main(int argc, char **argv)\n{{\n\tfor (unsigned i = 0;; i++)\n\t\t{call_c(0, cxx)}(i * 2654435761u);\n}}\n')
    return ''.join(out)


def call_c(k, cxx):
    return f'f{k}<{k}>::run' if cxx and not k % 2 else f'f{k}'


def rust_program(rng):
    out = [HEAD['rs']]
    for i in reversed(range(FUNCTIONS)):
        inline = i and rng.random() < 0.75
        body = ''.join(f'    if which & {1 << k % 30} != 0 {{ f{k}(which.wrapping_mul(5).wrapping_add({k})); }}\n'
                       for k in calls_of(i, rng))
        out.append(f'#[inline({"always" if inline else "never"})] fn f{i}(which: u32) {{\n    enter("f{i}");\n    sample();\n'
                   f'{body}    leave();\n}}\n')
    out.append('fn main() { let mut i = 0u32; loop { f0(black_box(i.wrapping_mul(2654435761))); i = i.wrapping_add(1); } }\n')
    return ''.join(out)


def name_of(line):
    """f3, f4<4>::run(unsigned int), r::f5 -> the name in the account."""
    found = re.search(r'\bf(\d+)\b', line)
    return f'f{found[1]}' if found else None


def check(what, program):
    script = f'uprobe:{program}:account_point {{ printf("==> %s\\n%s\\n", str(arg0), ustack(func)); @n++; ' \
             f'if (@n >= {SAMPLES}) {{ exit(); }} }}'
    done = subprocess.run([STRATA, '-q', '-e', f'config = {{ max_strlen = 2048; print_maps_on_exit = 0 }} {script}', '-c',
                           program], capture_output=True, text=True, timeout=100)
    seen, wrong, inlined = 0, [], 0
    for event in done.stdout.split('==> ')[1:]:
        lines = event.splitlines()
        account, frames = lines[0].split(), [line.strip() for line in lines[1:] if line.startswith('    ')]
        ours = [name for name in map(name_of, frames) if name]
        seen += 1
        inlined += sum(1 for line in frames if name_of(line) and not re.search(r'\+\d+$', line))
        if ours != account or not frames[-1].startswith('_start'):
            wrong.append((account, frames))
    cases.check(seen >= SAMPLES and len(wrong) <= seen / 1000 and inlined > seen,
                f'{what}: {seen} stacks, {inlined} inlined frames, {len(wrong)} are wrong', done.stderr, *wrong[:3])


def main():
    compilers = {'C': ('gcc', 'c'), 'C++': ('g++', 'cc'), 'C by clang': ('clang', 'c'), 'Rust': ('rustc', 'rs')}
    if os.geteuid():
        print('1..0 # SKIP needs root')
        return 0
    with tempfile.TemporaryDirectory() as directory:
        for what, (compiler, ending) in compilers.items():
            source, program = pathlib.Path(directory) / f'p.{ending}', pathlib.Path(directory) / f'account_{compiler}'
            if not shutil.which(compiler):
                cases.skip(what, f'{compiler} is not installed')
                continue
            rng = random.Random(7)
            source.write_text(rust_program(rng) if ending == 'rs' else c_program(rng, ending == 'cc'))
            flags = ['-O', '-g'] if ending == 'rs' else ['-O2', '-g', '-w']
            built = subprocess.run([compiler, *flags, source, '-o', program], capture_output=True, text=True)
            if built.returncode:
                cases.check(False, f'{what}: compiled', built.stderr)
                continue
            check(what, program)
    return cases.done()


sys.exit(main())
