#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""native.py - compares trace_id, span_id, trace_flags, label() and service with the requests that threads of a program in C
work on. The threads' variable is reached in each way that the ABI has, with glibc and musl.

    native.py STRATA [CALLS]      root"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
from absent import as_root
import compare
import tap

THREADS = 4
OTHERS = 40  # libraries that are opened first
GNU, MUSL = 'gcc', 'musl-gcc'
# A form: its name, the compiler, flags of the program, and the library: None, or its flags and how it is loaded
# (linked, opened; defines: the library only defines the variable, which the program uses).
FORMS = [
    ('program, PIE', GNU, ['-fPIE', '-pie', '-rdynamic'], None),
    ('program, fixed address', GNU, ['-no-pie', '-rdynamic'], None),
    ('program, aligned variables', GNU, ['-no-pie', '-rdynamic', '-DALIGNED'], None),
    ('static program', GNU, ['-static'], None),
    ('static PIE', GNU, ['-static-pie', '-fPIE'], None),
    ('library, initial exec', GNU, [], (['-ftls-model=initial-exec'], 'linked')),
    ('library, general dynamic', GNU, [], (['-ftls-model=global-dynamic', '-mtls-dialect=gnu'], 'linked')),
    ('library, descriptor', GNU, [], (['-mtls-dialect=gnu2'], 'linked')),
    ('library that only defines it', GNU, ['-DUSE'], ([], 'defines')),
    ('opened library, general dynamic', GNU, [], (['-mtls-dialect=gnu'], 'opened')),
    ('opened library, descriptor', GNU, [], (['-mtls-dialect=gnu2'], 'opened')),
    ('opened library, descriptor, large', GNU, [], (['-mtls-dialect=gnu2', '-DLARGE'], 'opened')),
    ('opened library, local dynamic', GNU, [], (['-Wl,-Bsymbolic', '-mtls-dialect=gnu', '-DLARGE'], 'opened')),
    ('labels, program', GNU, ['-rdynamic', '-DLABELS'], None),
    ('labels, opened library', GNU, ['-DLABELS'], (['-mtls-dialect=gnu2', '-DLABELS'], 'opened')),
    ('musl, program', MUSL, ['-rdynamic'], None),
    ('musl, library, general dynamic', MUSL, [], (['-mtls-dialect=gnu'], 'linked')),
    ('musl, opened library, general dynamic', MUSL, [], (['-mtls-dialect=gnu'], 'opened')),
    ('musl, opened library, descriptor', MUSL, [], (['-mtls-dialect=gnu2'], 'opened')),
]
VALUES = ['trace_id', 'span_id', 'trace_flags', 'label("tenant")', 'label("route")', 'label("unknown")', 'service']


def compile_form(where, form):
    """Returns the words of the command that starts the program."""
    _, compiler, flags, library = form
    name = f'v{FORMS.index(form)}'
    program, lib = where / name, where / f'lib{name}.so'
    common = [compiler, '-O1', '-g0', f'-I{HERE}', '-pthread']
    sources, words = [HERE / 'program.c'], []
    if not library or library[1] == 'defines':
        sources.append(HERE / 'record.c')
    if library:
        lib_flags, how = library
        source = HERE / ('variable.c' if how == 'defines' else 'record.c')
        subprocess.run([*common, '-fPIC', '-shared', *lib_flags, '-o', lib, source], check=True)
        if how == 'opened':
            flags = [*flags, '-DOPENS', '-ldl']
            words = [lib, *others(where, compiler)]
        else:
            sources.append(lib)
            flags = [*flags, f'-Wl,-rpath,{where}']
    subprocess.run([*common, *sources, *flags, '-o', program], check=True)
    return [program, str(THREADS), CALLS, *words]


def others(where, compiler):
    first = where / f'other-{compiler}.so'
    if not first.exists():
        subprocess.run([compiler, '-DOTHER', '-fPIC', '-shared', '-o', first, HERE / 'variable.c'], check=True)
    copies = []
    for i in range(OTHERS):
        copies.append(where / f'other-{compiler}-{i}.so')
        shutil.copyfile(first, copies[-1])
    return copies


def expected(who, labels=False):
    """What strata must print for a call."""
    if who % 100000 == 0 or who % 10 in (3, 7):
        return ['', '', 0, '', '', '', 'shop']
    trace = bytes(((who >> i % 3 * 8) + i) & 255 for i in range(16)).hex()
    span = bytes((who * 7 + i) & 255 for i in range(8)).hex()
    return [trace, span, 0 if labels else who % 2, f't{who % 5}', f'/route/{who % 100}' if who % 4 else '', '', 'shop']


def main(strata):
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as where:
        for form in FORMS:
            command = compile_form(pathlib.Path(where), form)
            wanted = {thread * 100000 + i: expected(thread * 100000 + i, 'labels' in form[0])
                      for thread in range(THREADS) for i in range(int(CALLS))}
            compare.check(cases, form[0], strata, command, VALUES, wanted)
    return cases.done()


if __name__ == '__main__':
    CALLS = sys.argv[2] if len(sys.argv) > 2 else '1000'
    sys.exit(as_root(lambda: main(sys.argv[1])))
