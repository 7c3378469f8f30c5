#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py ARGS - compiles the programs of this folder for both machines, and compares the functions
that ARGS prints with golden/."""
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
GCC = ['-g', '-w']
# (mark, file, compiler, flags): golden/FILE.MARK. `members`: with the members of structs, on x86_64.
CASES = [
    ('x86_64', 'shapes.c', 'gcc', GCC + ['-O2']),
    ('members', 'shapes.c', 'gcc', GCC + ['-O2']),
    ('aarch64', 'shapes.c', 'aarch64-linux-gnu-gcc', GCC + ['-O2', '-static']),
    ('x86_64', 'classes.cc', 'g++', GCC + ['-O1']),
    ('members', 'classes.cc', 'g++', GCC + ['-O1']),
    ('aarch64', 'classes.cc', 'aarch64-linux-gnu-g++', GCC + ['-O1', '-static']),
    ('x86_64', 'enums.rs', 'rustc', ['-g']),
    ('members', 'enums.rs', 'rustc', ['-g']),
]
# The same functions and results from other forms of the debug information.
FORMS = [
    ('DWARF 2', ['-gdwarf-2', '-gstrict-dwarf']),
    ('DWARF 4', ['-gdwarf-4']),
    ('type units', ['-fdebug-types-section']),
    ('split', ['-gsplit-dwarf']),
    ('compressed', ['-gz=zlib']),
]


def wanted(file, mark):
    return (HERE / 'golden' / f'{file}.{mark}').read_text().splitlines()


def listing(args, program, names, members):
    lines = []
    for name in names:
        command = [args, *(['-m'] if members else []), program, name]
        lines += subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return lines


def names_of(lines):
    return [line[:line.index('(')] for line in lines if line[0] != ' ']


def compare(number, title, want, have):
    print(f'{"ok" if want == have else "not ok"} {number} - {title}')
    if want != have:
        for line in want:
            print('# wanted', line)
        for line in have:
            print('# seen  ', line)
    return want == have


def compiled(folder, file, compiler, flags):
    program = folder / 'program'
    subprocess.run([compiler, *flags, '-o', program, HERE / file], check=True, cwd=folder)
    return program


def main():
    args = sys.argv[1]
    print(f'1..{len(CASES) + len(FORMS) + 3}')
    ok = True
    for number, (mark, file, compiler, flags) in enumerate(CASES, 1):
        title = f'{file} {mark}'
        foreign = mark != 'aarch64' and platform.machine() != 'x86_64'
        if not shutil.which(compiler) or foreign:
            print(f'ok {number} - {title} # SKIP no {compiler} for x86_64' if foreign else
                  f'ok {number} - {title} # SKIP no {compiler}')
            continue
        want = wanted(file, mark)
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(pathlib.Path(folder), file, compiler, flags)
            ok &= compare(number, title, want, listing(args, program, names_of(want), mark == 'members'))
    want = wanted('shapes.c', 'members')
    for number, (title, flags) in enumerate(FORMS, len(CASES) + 1):
        if platform.machine() != 'x86_64':
            print(f'ok {number} - {title} # SKIP not x86_64')
            continue
        with tempfile.TemporaryDirectory() as folder:
            program = compiled(pathlib.Path(folder), 'shapes.c', 'gcc', ['-g', '-w', '-O2', *flags])
            ok &= compare(number, title, want, listing(args, program, names_of(want), True))
    ok &= separate(len(CASES) + len(FORMS) + 1, args)
    ok &= cached(len(CASES) + len(FORMS) + 2, args)
    ok &= shared(len(CASES) + len(FORMS) + 3, args)
    sys.exit(not ok)


def separate(number, args):
    """Debug information in a file that .gnu_debuglink names, without a build ID."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = compiled(folder, 'shapes.c', 'gcc', ['-g', '-w', '-O2', '-Wl,--build-id=none'])
        want = listing(args, program, ['walk'], True)
        (folder / '.debug').mkdir()
        for command in (['--only-keep-debug', program, '.debug/program.debug'], ['--strip-debug', program],
                        ['--add-gnu-debuglink=.debug/program.debug', program]):
            subprocess.run(['objcopy', *command], check=True, cwd=folder)
        return compare(number, 'debuglink', want or ['something'], listing(args, program, ['walk'], True))


def cached(number, args):
    """Debug information in debuginfod's cache, by build ID."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = compiled(folder, 'shapes.c', 'gcc', ['-g', '-w', '-O2', '-Wl,--build-id=0x0123456789abcdef'])
        want = listing(args, program, ['walk'], True)
        cache = folder / 'cache' / '0123456789abcdef'
        cache.mkdir(parents=True)
        subprocess.run(['objcopy', '--only-keep-debug', program, cache / 'debuginfo'], check=True)
        subprocess.run(['objcopy', '--strip-debug', program], check=True)
        none = listing(args, program, ['walk'], True)
        os.environ['DEBUGINFOD_CACHE_PATH'] = str(folder / 'cache')
        have = listing(args, program, ['walk'], True)
        del os.environ['DEBUGINFOD_CACHE_PATH']
        return compare(number, 'debuginfod', [*want, f'{program}: no debug information'], have + none)


def shared(number, args):
    """Debug information that two programs share, in a file of dwz."""
    if not shutil.which('dwz'):
        print(f'ok {number} - dwz # SKIP no dwz')
        return True
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = compiled(folder, 'shapes.c', 'gcc', ['-g', '-w', '-O2'])
        want = listing(args, program, ['walk', 'others'], True)
        shutil.copy(program, folder / 'other')
        subprocess.run(['dwz', '-m', 'common', 'program', 'other'], check=True, cwd=folder)
        assert (folder / 'common').exists()
        return compare(number, 'dwz', want, listing(args, program, ['walk', 'others'], True))


main()
