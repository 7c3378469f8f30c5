#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""abi.py ARGS [SEED [COUNT]] - calls functions with random parameters and compares the place of each
argument with the place that ARGS finds in the debug information. The callee is assembler that records
registers and stack. The programs of arm64 run under qemu-aarch64, if that is installed.

    abi.py --build ARCH     only builds the programs, for a machine without compilers"""
import pathlib
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

MADE = pathlib.Path(__file__).resolve().parents[3] / 'build' / 'types' / 'abi'
COUNT = 120 # functions

TYPES = r'''
#include <complex.h>
#include <stdbool.h>
enum small { ONE = 1, TWO };
struct s1 { char a; }; struct s3 { char a[3]; }; struct s4 { int a; }; struct s8 { int a, b; };
struct s12 { int a, b, c; }; struct s16 { long a, b; }; struct s24 { long a, b, c; };
struct s40 { char a[40]; }; struct f4 { float a; }; struct f8 { float a, b; };
struct f12 { float a, b, c; }; struct d8 { double a; }; struct d16 { double a, b; };
struct d32 { double a, b, c, d; }; struct d40 { double a[5]; }; struct mixed { long a; double b; };
struct mixed2 { double a; long b; }; struct mixed3 { float a; int b; }; struct mixed4 { float a, b; long c; };
struct nested { struct s4 a; struct f4 b; long c; }; union u8 { long a; double b; };
union u16 { struct s16 a; struct d16 b; }; union uf { float a; float b[3]; };
struct bits { unsigned a : 3, b : 29; unsigned long c : 40, d : 24; };
struct __attribute__((packed)) packed { char a; long b; }; struct fa { float a[2]; double b; };
struct ld { long double a; }; struct wide { __int128 a; };
typedef unsigned long count_t; typedef const struct s16 constant_t;
typedef int quad __attribute__((vector_size(16)));
'''
NAMES = ('char|short|int|long|_Bool|unsigned char|unsigned|float|double|long double|__int128|enum small|'
         'void *|const char *|int (*)(int)|count_t|constant_t|quad|float _Complex|double _Complex|'
         'struct s1|struct s3|struct s4|struct s8|struct s12|struct s16|struct s24|struct s40|struct f4|'
         'struct f8|struct f12|struct d8|struct d16|struct d32|struct d40|struct mixed|struct mixed2|'
         'struct mixed3|struct mixed4|struct nested|union u8|union u16|union uf|struct bits|'
         'struct packed|struct fa|struct ld|struct wide').split('|')
COMMON = ('int', 'long', 'void *', 'double')

STUB = {
    'x86_64': r'''
	.globl record
record:	lea regs(%rip), %rax
	mov %rdi, (%rax); mov %rsi, 8(%rax); mov %rdx, 16(%rax); mov %rcx, 24(%rax); mov %r8, 32(%rax)
	mov %r9, 40(%rax)
	mov $0, %ecx
1:	mov (%rsp,%rcx), %dl
	mov %dl, 64(%rax,%rcx)
	inc %ecx
	cmp $1024, %ecx
	jb 1b
	mov %rdi, %rax
	ret
''',
    'aarch64': r'''
	.globl record
record:	adrp x9, regs
	add x9, x9, :lo12:regs
	stp x0, x1, [x9]
	stp x2, x3, [x9, 16]
	stp x4, x5, [x9, 32]
	stp x6, x7, [x9, 48]
	mov x10, 0
1:	ldrb w11, [sp, x10]
	add x12, x9, x10
	strb w11, [x12, 64]
	add x10, x10, 1
	cmp x10, 1024
	b.lo 1b
	ret
''',
}
JUMP = {'x86_64': 'jmp', 'aarch64': 'b'}


def parameter(name, number):
    return name.replace('(*)', f'(*p{number})') if '(*)' in name else f'{name} p{number}'


def prototype(number, function):
    returns, params = function
    return f'{returns} f{number}({", ".join(parameter(p, i) for i, p in enumerate(params))})'


def make(count, rng, compiler):
    # clang 19 splits an __int128 between the last register and the stack, which the ABI forbids.
    names = [n for n in NAMES if n != '__int128' or 'clang' not in compiler]
    returned = [n for n in names if '(' not in n]
    return [(rng.choice(returned + ['void']),
             [rng.choice(rng.choice((names, COMMON))) for _ in range(rng.randrange(1, 12))])
            for _ in range(count)]


def call(number, function):
    """Makes a call. Each argument's bytes count up from its number; arguments that are only in memory are printed whole."""
    lines, args = [], []
    for i, name in enumerate(function[1]):
        plain = 'constant_t' if name == 'constant_t' else name
        kind = 'struct s16' if plain == 'constant_t' else plain
        lines.append(f'\tstatic {parameter(kind, i)}; fill(&p{i}, sizeof(p{i}), {i + 1});')
        if kind == '_Bool':
            lines.append(f'\tp{i} = 1;')
        args.append(f'p{i}')
    lines.append(f'\tf{number}({", ".join(args)});')
    for i, _ in enumerate(function[1]):
        lines.append(f'\tshow("f{number} p{i}", &p{i}, sizeof(p{i}));')
    return f'static void call{number}(void)\n{{\n' + '\n'.join(lines) + '\n}\n'


CALLER = r'''
#include <stdio.h>
#include <string.h>
unsigned char regs[64 + 1024];
static void fill(void *p, int n, int from) { for (int i = 0; i < n; i++) ((unsigned char *)p)[i] = 16 * from + i; }
static void show(const char *what, void *p, int n) {
	printf("%s ", what);
	for (int i = 0; i < n; i++) printf("%02x", ((unsigned char *)p)[i]);
	printf("\n");
	for (int i = 0; i < 8; i++) { /* behind registers that are pointers */
		unsigned char *at; memcpy(&at, regs + 8 * i, 8);
		if ((unsigned long)at - (unsigned long)&n + 65536 < 131072 && n <= 64 && n > 16) {
			printf("%s *%d ", what, i);
			for (int k = 0; k < n; k++) printf("%02x", at[k]);
			printf("\n");
		}
	}
}
static void dump(int f) {
	printf("f%d regs ", f);
	for (unsigned i = 0; i < sizeof(regs); i++) printf("%02x", regs[i]);
	printf("\n");
}
'''


def build(folder, machine, compiler, functions):
    """Builds (the calling program, the program whose debug information is read)."""
    (folder / 'types.h').write_text(TYPES)
    text = ''.join(prototype(i, f) + ';\n' for i, f in enumerate(functions))
    text += CALLER + ''.join(call(i, f) for i, f in enumerate(functions))
    # The record is shown first, since printing reuses the stack that pointers lead to.
    text += 'int main(void) {\n' + ''.join(
        f'\tcall{i}(); dump({i});\n' for i in range(len(functions))) + '\treturn 0;\n}\n'
    (folder / 'call.c').write_text('#include "types.h"\n' + text)
    (folder / 'stub.s').write_text('.text\n' + ''.join(
        f'\t.globl f{i}\nf{i}:\t{JUMP[machine]} record\n' for i in range(len(functions))) + STUB[machine] +
        '\t.section .note.GNU-stack,"",%progbits\n')
    define = '#include "types.h"\n'
    for i, f in enumerate(functions):
        body = '' if f[0] == 'void' else f'static __typeof__({f[0]}) r; return r; '
        define += f'{prototype(i, f)} {{ {body}}}\n'
    (folder / 'defs.c').write_text(define)
    subprocess.run(compiler + ['-w', '-O0', '-static', '-o', folder / 'call', folder / 'call.c', folder / 'stub.s'],
                   check=True)
    subprocess.run(compiler + ['-w', '-g', '-O0', '-shared', '-fPIC', '-o', folder / 'defs.so', folder / 'defs.c'],
                   check=True)


def read(output):
    seen = {}
    for line in output.splitlines():
        *what, value = line.split()
        seen[' '.join(what)] = bytes.fromhex(value)
    return seen


def actual(where, size, seen, what, regs):
    """Returns the bytes at the place of the argument in the debug information."""
    if re.fullmatch(r'r\d', where):
        at = 8 * int(where[1:])
        return regs[at:at + size]
    if ',' in where:
        one, two = (8 * int(r[1:]) for r in where.split(','))
        return (regs[one:one + 8] + regs[two:two + 8])[:size]
    if where.startswith('sp+'):
        at = 64 + int(where[3:])
        return regs[at:at + size]
    return seen.get(f'{what} *{where[2:]}')


def compare(listing, seen):
    checked, wrong = 0, []
    for line in listing.splitlines():
        name = line[:line.index('(')]
        if f'{name} regs' not in seen:
            continue
        for found in re.finditer(r'(p\d+) at (none: [a-z -]+|\*?r\d(?:,r\d)?|sp\+\d+)', line):
            what = f'{name} {found[1]}'
            value = seen[what]
            if found[2].startswith('none'):
                if 'floating' not in found[2] and 'pointer to it' not in found[2]:
                    wrong.append(f'{what}: {found[2]}')
                continue
            checked += 1
            if 'long double ' + found[1] in line or 'struct ld ' + found[1] in line:
                value = value[:10] # six bytes of an x87 value are undefined
            bytes_there = actual(found[2], len(value), seen, what, seen[f'{name} regs'])
            if bytes_there != value:
                wrong.append(f'{what}: {value.hex()} is not at {found[2]}, which has '
                             f'{bytes_there.hex() if bytes_there else "no such pointer"}: {line}')
    return checked, wrong


def compilers():
    """Yields (machine, compiler, the command that runs its programs)."""
    return [('x86_64', 'gcc', []), ('x86_64', 'clang', []), ('aarch64', 'aarch64-linux-gnu-gcc', ['qemu-aarch64'])]


def command(compiler):
    """Returns the command of a compiler; Debian's clang-19 has no plain `clang`."""
    names = [compiler, *(f'clang-{n}' for n in range(21, 17, -1) if compiler == 'clang')]
    return next(filter(None, map(shutil.which, names)), None)


def build_all(arch):
    for machine, compiler, _ in compilers():
        if machine != {'amd64': 'x86_64', 'arm64': 'aarch64'}[arch] or not command(compiler):
            continue
        to = MADE / compiler
        to.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=MADE) as folder: # several machines may need them
            build(pathlib.Path(folder), machine, [command(compiler)], make(COUNT, random.Random(1), compiler))
            for name in ('call', 'defs.so'):
                pathlib.Path(folder, name).replace(to / name)
                print(to / name)


def check(args, folder, runner, count):
    """Returns (number of compared arguments, errors)."""
    seen = read(subprocess.run([*runner, folder / 'call'], capture_output=True, text=True, check=True).stdout)
    listing = subprocess.run([args, folder / 'defs.so'], capture_output=True, text=True, check=True).stdout
    checked, wrong = compare(listing, seen)
    if checked < 3 * count:
        wrong.append(f'only {checked} arguments were compared')
    return checked, wrong


def main():
    if sys.argv[1] == '--build':
        build_all(sys.argv[2])
        return
    args = sys.argv[1]
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    count = int(sys.argv[3]) if len(sys.argv) > 3 else COUNT
    print(f'1..{len(compilers())}')
    failed = False
    for i, (machine, compiler, runner) in enumerate(compilers(), 1):
        name = f'{i} - {compiler}'
        runner = [] if machine == platform.machine() else runner
        made = (MADE / compiler / 'call').exists() and not runner and not command(compiler)
        lacking = [c for c in [*([] if made else [compiler]), *runner] if not command(c)]
        if (machine != platform.machine() and not runner) or lacking:
            print(f'ok {name} # SKIP {" ".join(lacking) or machine} is not here')
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = MADE / compiler if made else pathlib.Path(folder)
            if not made:
                build(folder, machine, [command(compiler)], make(count, rng, compiler))
            checked, wrong = check(args, folder, runner, count)
        print(f'{"not " if wrong else ""}ok {name}')
        print(f'# {checked} arguments')
        for text in wrong[:20]:
            print('#', text)
        failed |= bool(wrong)
    sys.exit(failed)


main()
