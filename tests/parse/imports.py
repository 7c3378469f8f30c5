#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""imports.py STRATA - what a script imports: where it is looked for, in which order it comes, what is
refused. Nothing is attached: -d names and -d types print what was read. Prints TAP."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap

STRATA = os.path.realpath(sys.argv[1])
cases = tap.Cases()

FILES = {
    'lib.bt': 'macro add(a, b) { a + b }\nbegin { @lib = 1; }\n',
    'defs.h': '#define SEVEN 7\nstruct pair { int a; int b; };\n',
    'sub/inner.bt': 'import "deep.bt";\nmacro inner(x) { deep(x) + 1 }\nend { @inner = 1; }\n',
    'sub/deep.bt': '#define DEEP 100\nmacro deep(x) { x + DEEP }\nbegin { @deep = 1; }\n',
    'settings.bt': 'config = { max_map_keys = 3 }\nmacro c(x) { x }\n',
    'broken.bt': 'begin {\n\t@a = ;\n}\n',
    'self.bt': 'import "self.bt";\nimport "lib.bt"\nbegin { @self = 1; }\n',
    'notes.txt': 'nothing\n',
    'one.h': 'struct one { int a; };\n',
    'two.h': 'struct two { int a; short b[2]; };\n',
    'three.h': 'struct three { int a; short b[3]; };\n',
    'lib.bpf.c': '''#include "vmlinux.h"
enum side { LEFT, RIGHT };
struct point { int x, y; };
static int hidden(int x) { return x; }
int twice(int x) { return hidden(x) * 2; }
unsigned char byte(unsigned char c) { return c; }
_Bool not(_Bool b) { return !b; }
int sum(int a, u64 b) { return a + b; }
struct point *same(struct point *p) { return p; }
int any(void *p) { return p != 0; }
int first(char *s) { return s[0]; }
void nothing(int x) { }
struct point whole(void) { return (struct point){}; }
inline int inlined(void) { return 1; }
''',
    'broken.bpf.c': 'int f(int x)\n{\n\treturn x + y;\n}\n',
    'six.bpf.c': 'int f(void) { return 1; }\nint six(int a, int b, int c, int d, int e, int f) { return a + f; }\n',
    'taken.bpf.c': 'int count_lost(void) { return 1; }\nint f(void) { return 1; }\n',
    'c/lib.bpf.c': 'int in_c(void) { return 1; }\n',
    'open/lib.bt': 'macro one() { 1 }\n',
    'empty/notes.txt': 'nothing\n',
}


def run(dir, script, stage='names', name=None):
    if name:
        (dir / name).write_text(script)
    what = [str(name)] if name else ['-e', script]
    return subprocess.run([STRATA, '-d', stage, *what], cwd=dir, capture_output=True, text=True, timeout=60)


def gives(dir, what, script, *lines, name='main.bt', stage='names'):
    done = run(dir, script, stage, name)
    seen = [line.strip() for line in done.stdout.splitlines()]
    cases.check(done.returncode == 0 and [line for line in seen if line in lines] == list(lines), what, done)


def refuses(dir, what, script, *words, name='main.bt'):
    done = run(dir, script, 'types', name)
    cases.check(done.returncode == 1 and all(word in done.stderr for word in words), what, done)


def accepted(dir):
    gives(dir, 'what is imported comes first', 'import "lib.bt"; begin { @main = add(1, 2); }', '@lib', '@main')
    gives(dir, 'a file that imports, beside itself', 'import "sub/inner.bt"; begin { @x = inner(1); }',
          'begin', 'end', 'begin', '@deep', '@inner', '@x')
    gives(dir, 'a header', 'import "defs.h"; begin { @x = SEVEN; @y = sizeof(struct pair); }', '@x', '@y')
    gives(dir, 'its constants are there', 'import "defs.h"; begin { print(SEVEN); }', 'int 7 : int8', stage='types')
    gives(dir, 'three headers', 'import "one.h"; import "two.h"; import "three.h"; '
          'begin { print((sizeof(struct one), sizeof(struct two), sizeof(struct three))); }', 'int 4 : uint64', 'int 8 : uint64',
          'int 12 : uint64', stage='types')
    gives(dir, 'a directory', 'import "sub"; begin { @x = inner(1) + deep(2); }', '@deep', '@inner', '@x')
    gives(dir, 'each file once, also by another name',
          'import "lib.bt"; import "./sub/../lib.bt"; begin { @main = 1; }', '@lib', '@main')
    gives(dir, 'a script that imports itself', FILES['self.bt'], '@lib', '@self', name='self.bt')
    gives(dir, 'a one-liner, from the working directory', 'import "lib.bt"; begin { @x = add(1, 1); }', '@lib', '@x',
          name=None)
    gives(dir, 'an absolute path', f'import "{dir}/lib.bt"; begin {{ @x = 1; }}', '@lib', '@x')
    gives(dir, 'where the script is, not where it is run', 'import "deep.bt"; begin { @x = deep(1); }', '@deep', '@x',
          name='sub/main.bt')


def functions(dir):
    def typed(call, line):
        gives(dir, f'{call} in C', f'import "lib.bpf.c"; begin {{ print({call}); }}', line, stage='types')

    def wrong(call, *words):
        refuses(dir, f'{call} in C', f'import "lib.bpf.c"; begin {{ {call}; }}', 'main.bt:1:', *words)

    typed('twice(21)', 'call twice() : int32')
    typed('byte(255)', 'call byte() : uint8')
    typed('not(true)', 'call not() : bool')
    typed('same((struct point *)1)', 'call same() : struct point *')
    typed('any((struct point *)1)', 'call any() : int32')
    typed('first("abc")', 'call first() : int32')
    typed('RIGHT', 'int 1 : enum side')
    gives(dir, 'of a directory', 'import "c"; begin { print(in_c()); }', 'call in_c() : int32', stage='types')
    wrong('print(twice())', 'twice() takes 1 argument, not 0')
    wrong('print(twice(1, 2))', 'twice() takes 1 argument, not 2')
    wrong('print(twice("a"))', 'twice() takes int32 here, not string[2]')
    wrong('print(twice(true))', 'twice() takes int32 here, not bool')
    wrong('print(twice(5000000000))', 'takes int32 here, not int64')
    wrong('print(byte(256))', 'takes uint8 here')
    wrong('print(byte(-1))', 'takes uint8 here')
    wrong('print(not(1))', 'takes bool here, not int8')
    wrong('$x = 7; print(same(&$x))', 'takes struct point * here')
    wrong('print(any(0))', 'takes void * here, not int8')
    wrong('print(nothing(1))', 'nothing() gives no value')
    wrong('print(whole())', 'whole() returns struct point')
    wrong('print(hidden(1))', 'unknown function: hidden')
    wrong('print(inlined())', 'unknown function: inlined')
    wrong('$x = twice', 'unknown variable or function: twice')
    refuses(dir, 'a mistake in C is shown there', 'import "broken.bpf.c"; begin { print(f(1)); }', 'broken.bpf.c:3:13:',
            "undeclared identifier 'y'")
    done = run(dir, 'import "six.bpf.c"; begin { print(f()); }', 'elf', 'main.bt')
    cases.check(done.returncode == 1 and 'six.bpf.c:2:1: error: clang: ' in done.stderr,
                "what only clang refuses is shown there", done)
    done = run(dir, 'import "taken.bpf.c"; begin { print(f()); }', 'elf', 'main.bt')
    cases.check(done.returncode == 1 and '(count_lost)' in done.stderr and 'rename it' in done.stderr,
                "a name of strata's own", done)
    done = subprocess.run([STRATA, '-d', 'elf', '-e', 'import "lib.bpf.c"; begin { print(twice(1)); }'], cwd=dir,
                          env={'PATH': '/nonexistent'}, capture_output=True, text=True, timeout=60)
    cases.check(done.returncode == 1 and 'need clang' in done.stderr, 'no clang', done)
    os.mkfifo(dir / 'fifo.bpf.c')
    refuses(dir, 'a fifo of that name', 'import "fifo.bpf.c"; begin { }', 'neither a file')


def refused(dir):
    refuses(dir, 'no such file', 'import "none.bt"; begin { }', 'main.bt:1:1:', 'there is no none.bt')
    refuses(dir, 'settings of another file', 'import "settings.bt"; begin { }', 'settings.bt:1:12:', 'settings')
    refuses(dir, 'a mistake there is shown there', 'import "broken.bt"; begin { }', 'broken.bt:2:7:', '@a = ;')
    refuses(dir, 'neither script nor header', 'import "notes.txt"; begin { }', 'is not a script (.bt)')
    refuses(dir, 'a directory without scripts', 'import "empty"; begin { }', 'no .bt, .h or .bpf.c file')
    (dir / 'pipes').mkdir()
    os.mkfifo(dir / 'pipes/lib.bt')
    refuses(dir, 'a fifo, which would not end', 'import "pipes"; begin { }', 'pipes/lib.bt cannot be read: it is not a regular')
    refuses(dir, 'within a probe', 'begin { import "lib.bt"; }', 'outside of probes')
    refuses(dir, 'a mistake in a macro names both files', 'import "sub/deep.bt"; begin { print(deep(comm)); }',
            'sub/deep.bt:2:17:', 'main.bt:1:37: note')
    (dir / 'open').chmod(0o777)
    refuses(dir, 'where everybody can write', 'import "open/lib.bt"; begin { print(one); }', 'everybody can write')
    os.mkfifo(dir / 'fifo.bt')
    refuses(dir, 'a fifo, which would block', 'import "fifo.bt"; begin { }', 'neither a file')


with tempfile.TemporaryDirectory() as made:
    top = pathlib.Path(made).resolve()
    for path, text in FILES.items():
        (top / path).parent.mkdir(exist_ok=True)
        (top / path).write_text(text)
    accepted(top)
    functions(top)
    refused(top)
sys.exit(cases.done())
