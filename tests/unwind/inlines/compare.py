#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py - functions and lines of all addresses of a program equal those of llvm-symbolizer, for each form of debug
information that the tools of this machine can make. Without it, addr2line is asked, which is less exact: names of the
innermost functions are those of symbols, and some frames are missing.

    compare.py QUERY [PROGRAM..]      QUERY: inline-query; with programs, of 20,000 addresses of each"""
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

QUERY = pathlib.Path(sys.argv[1]).resolve()
SOURCE = r'''
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
struct A { std::string s; int get(int i) const { return s[i % s.size()] + twice(i); } int twice(int k) const { return k * 2; } };
template <class F> static int apply(F f, int n) { int r = 0; for (int i = 0; i < n; i++) r += f(i); return r; }
namespace {
int hidden(std::map<std::string, int> &m, const A &a)
{
	/* Its method is a function within a function. */
	struct Local { __attribute__((noinline)) static int odd(int i) { return i ? odd(i - 1) * 3 + 1 : 0; } };
	return Local::odd((int)a.s.size()) + apply([&](int i) { return a.get(i) + m["x"]++; }, 1000);
}
}
int main(int argc, char **argv)
{
	std::map<std::string, int> m;
	A a{argv[0]};
	std::vector<int> x(100, argc);
	std::sort(x.begin(), x.end(), [](int p, int q) { return p > q; });
	int r = 0;
	for (int i = 0; i < 100; i++)
		r += hidden(m, a);
	printf("%d %d\n", r, x[3]);
}
'''
NESTED = r'''
volatile int sink;
static inline __attribute__((always_inline)) void leaf(int i) { sink += i; sink *= 3; }
__attribute__((noinline)) int outer(int n)
{
	__attribute__((noinline)) int inner(int k) { leaf(k + n); return k ? inner(k - 1) + n : n; }
	leaf(n);
	return inner(n) + 1;
}
__attribute__((noinline)) int more(int n) { leaf(n); leaf(n + 1); return n + 1; }
int main(int argc, char **argv) { leaf(argc); return outer(argc) + more(argc); }
'''
LLVM = next((tool for tool in ('llvm-symbolizer-19', 'llvm-symbolizer') if shutil.which(tool)), None)
cases = Cases()


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors='replace', **options)


def addresses(program, most):
    text = re.search(r' \.text +\w+ +(\w+) +\w+ +(\w+)', run('readelf', '-SW', program).stdout)
    start, size = int(text[1], 16), int(text[2], 16)
    return sorted(random.Random(1).sample(range(start, start + size), min(most, size)))


def chains(output):
    """Returns {address: [(name, file, line)]}; a line that is not known is 0."""
    result, name = {}, None
    for line in output.splitlines():
        if re.fullmatch(r'0x[0-9a-f]+', line):
            chain = result.setdefault(int(line, 16), [])
            name = None
        elif name is None:
            name = line
        else:
            path, number = re.sub(r' \(discriminator.*', '', line).rsplit(':', 1)
            chain.append((name, os.path.basename(path), number.replace('?', '0')))
            name = None
    return result


def same_name(ours, theirs):
    """Names without a linkage name have their classes here, but not there. .cold: see the symbol's name."""
    theirs = theirs.split('.')[0]
    return ours.split('.')[0] == theirs or ours.endswith('::' + theirs)


def same(ours, theirs):
    if ours == [('??', '??', '0')]: # no debug information: the other has the symbol
        return True
    if [x[1:] for x in ours] != [x[1:] for x in theirs]:
        return False
    return not LLVM or all(same_name(x[0], y[0]) for x, y in zip(ours[:-1], theirs[:-1]))


def ask(program, text):
    if not LLVM:
        return run('addr2line', '-a', '-i', '-f', '-e', program, input=text).stdout
    return run(LLVM, f'--obj={program}', '-a', '-i', '-f', '--no-demangle', '--output-style=GNU', input=text).stdout


def kept(what, program, where, seen):
    """Later runs have the answers of earlier ones, also for other addresses of the same functions."""
    with tempfile.TemporaryDirectory() as cache:
        def again(addresses):
            return run(QUERY, program, 0, cache, input='\n'.join(map(hex, addresses)) + '\n')

        first, second, third = again(where[::2]), again(where), again(where)
        cases.check(chains(first.stdout).items() <= chains(seen).items() and second.stdout == seen and
                    third.stdout == seen and third.stderr.startswith('from the cache'), f'{what}: kept for later runs',
                    first.stderr, second.stderr, third.stderr)


def compare(what, program, oracle=None, most=20000, share=1 if LLVM else 0.95):
    where = addresses(program, most)
    text = '\n'.join(map(hex, where)) + '\n'
    seen = run(QUERY, program, input=text)
    ours = chains(seen.stdout)
    theirs = chains(ask(oracle or program, text))
    kept(what, program, where, seen.stdout)
    wrong = [a for a in where if not same(ours.get(a, []), theirs.get(a, []))]
    inlined = sum(len(chain) > 1 for chain in ours.values())
    cases.check(len(wrong) <= (1 - share) * len(where) and inlined > len(where) / 20, f'{what}: {len(where)} addresses, '
                f'{inlined} with inlined functions', seen.stderr, *((hex(a), ours.get(a), theirs.get(a)) for a in wrong[:5]))


def has_section(program, name):
    return name in run('readelf', '-SW', program).stdout


def after_others(home):
    """An address without a function makes strata look for functions within functions. That leaves other answers alone."""
    source, program = home / 'nested.c', home / 'nested'
    source.write_text(NESTED)
    if run('gcc', '-O2', '-g', source, '-o', program).returncode:
        cases.skip('functions within functions', 'this compiler does not know them')
        return
    where = addresses(program, 20000)
    whole = chains(run(QUERY, program, input='\n'.join(map(hex, where)) + '\n').stdout)
    named = [a for a in where if whole[a][-1][0] != '??']
    last = max(a for a in range(named[0], named[-1]) if a not in named)
    some = [a for a in named if a < last][::4]
    wrong = [hex(a) for a in some
             if chains(run(QUERY, program, input=f'{a:#x}\n{last:#x}\n').stdout).get(a) != whole[a]]
    cases.check(not wrong, 'an address without a function does not change the answers about others', *wrong[:5])


def compile_all(home):
    source = home / 'p.cc'
    source.write_text(SOURCE)
    for compiler in 'g++', 'clang++', 'clang++-19':
        if not shutil.which(compiler):
            continue
        for version in 4, 5:
            program = home / f'{compiler}-{version}'
            if run(compiler, '-O2', f'-gdwarf-{version}', source, '-o', program).returncode:
                cases.skip(f'{compiler} -gdwarf-{version}', 'this compiler does not work')
                continue
            compare(f'{compiler} -gdwarf-{version}', program)
    split = home / 'split'
    run('g++', '-O2', '-g', '-gsplit-dwarf', source, '-o', split, cwd=home)
    compare('split', split)
    for compiler in 'g++', next(c for c in ('clang++-19', 'clang++') if shutil.which(c) or c == 'clang++'):
        for version in 4, 5:
            if shutil.which(compiler):
                package(home / f'package-{compiler}-{version}', source, compiler, version)
    run('g++', '-O2', '-g', source, '-o', home / 'plain')
    after_others(home)
    return home / 'plain'


def package(folder, source, compiler, version):
    """The split units of two files in a .dwp file: answers are those with .dwo files. Also a file whose sections are
    compressed, and damaged ones."""
    what, program, dwp = folder.name, folder / 'p', folder / 'p.dwp'
    folder.mkdir()
    other = folder / 'q.cc'
    other.write_text(source.read_text().replace('main', 'other').replace('hidden', 'second'))
    if any(run(compiler, '-O2', f'-gdwarf-{version}', '-gsplit-dwarf', '-c', file, cwd=folder).returncode for file in (source, other)):
        cases.skip(what, 'this compiler does not work')
        return
    run(compiler, 'p.o', 'q.o', '-o', program, cwd=folder)
    text = '\n'.join(map(hex, addresses(program, 2000))) + '\n'
    whole = run(QUERY, program, input=text).stdout
    if not any(not run(tool, '-e', program, '-o', dwp, cwd=folder).returncode and dwp.exists()
               for tool in ('llvm-dwp-19', 'llvm-dwp', 'dwp') if shutil.which(tool)):
        cases.skip(what, 'no tool here makes a .dwp file')
        return
    for file in folder.glob('*.dwo'):
        file.unlink()
    compare(what, program, most=2000)
    seen = run(QUERY, program, input=text).stdout
    cases.check(seen == whole and '/q.cc' in seen, f'{what}: the same answers as with .dwo files',
                *[(a, b) for a, b in zip(whole.splitlines(), seen.splitlines()) if a != b][:5])
    data = dwp.read_bytes()
    if not run('objcopy', '--compress-debug-sections=zlib', dwp, folder / 'packed').returncode and \
            has_section(folder / 'packed', '.debug_info.dwo'):
        (folder / 'packed').replace(dwp)
        cases.check(run(QUERY, program, input=text).stdout == whole, f'{what}: compressed')
        dwp.write_bytes(data)
    damaged(what, program, dwp, text)
    dwp.write_bytes(data)
    run('objcopy', '--only-keep-debug', program, folder / 'p.debug')
    run('objcopy', '--strip-all', f'--add-gnu-debuglink={folder / "p.debug"}', program)
    cases.check(run(QUERY, program, input=text).stdout == whole, f'{what}: next to the program, not to its debug file')


def damaged(what, program, dwp, text):
    """Bytes of the .dwp file are changed, at random but the same in each run, or it is cut."""
    data, chance = dwp.read_bytes(), random.Random(2)
    text = '\n'.join(text.splitlines()[::20]) + '\n'
    bad = []
    for n in range(12):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 200)):
            broken[chance.randrange(len(broken))] = chance.choice((0, 1, 0x7f, 0xff, chance.randrange(256)))
        dwp.write_bytes(broken[:chance.randrange(len(broken))] if n % 3 == 0 else broken)
        done = run(QUERY, program, input=text, timeout=60)
        bad += [(n, done)] if done.returncode not in (0, 1) else []
    cases.check(not bad, f'{what}: damaged', *bad[:3])


def pack(home, plain):
    for how, flag in ('zlib', '--compress-debug-sections=zlib'), ('zlib-gnu', '--compress-debug-sections=zlib-gnu'), \
            ('zstd', '--compress-debug-sections=zstd'):
        packed = home / how
        tools = [tool for tool in ('objcopy', 'llvm-objcopy-19', 'llvm-objcopy') if shutil.which(tool)]
        if not any(not run(tool, flag, plain, packed).returncode for tool in tools):
            cases.skip(how, 'no objcopy here can do this')
            continue
        compare(how, packed, oracle=plain)


def shared(home, plain):
    if not shutil.which('dwz'):
        cases.skip('dwz', 'dwz is not installed')
        return
    one, two = home / 'one', home / 'two'
    shutil.copy(plain, one)
    shutil.copy(home / 'g++-4', two)
    done = run('dwz', '-m', home / 'common', one, two, cwd=home)
    if not has_section(one, '.gnu_debugaltlink'):
        cases.skip('dwz', f'nothing is shared: {done.stderr}')
        return
    compare('dwz', one, oracle=plain)


def aranges(home, plain):
    """.debug_aranges is missing, or lacks most of the code."""
    missing, lacks = home / 'no-aranges', home / 'few-aranges'
    run('objcopy', '--remove-section=.debug_aranges', plain, missing)
    compare('without .debug_aranges', missing, oracle=plain)
    data = bytearray(plain.read_bytes())
    found = re.search(r' \.debug_aranges +PROGBITS +\w+ +(\w+) +(\w+)', run('readelf', '-SW', plain).stdout)
    for at in range(int(found[1], 16) + 16, int(found[1], 16) + int(found[2], 16) - 16, 16):
        data[at + 8:at + 16] = (16).to_bytes(8, 'little') # bytes of code
    lacks.write_bytes(data)
    compare('with few ranges in .debug_aranges', lacks, oracle=plain)


def beside(home, plain):
    """The debug information is next to the program, or in .debug/."""
    for where in '', '.debug':
        folder = home / f'beside{where}'
        (folder / where).mkdir(parents=True)
        program, debug = folder / 'p', folder / where / 'p.debug'
        run('objcopy', '--only-keep-debug', plain, debug)
        run('objcopy', '--strip-all', f'--add-gnu-debuglink={debug}', plain, program)
        compare(f'.gnu_debuglink: {where or "beside"}', program, oracle=plain)


def main():
    if sys.argv[2:]:
        for program in sys.argv[2:]:
            compare(program, program, share=0.999)
        return cases.done()
    if not shutil.which('g++') or not shutil.which('addr2line'):
        print('1..0 # SKIP needs g++ and addr2line')
        return 0
    with tempfile.TemporaryDirectory() as directory:
        home = pathlib.Path(directory)
        plain = compile_all(home)
        pack(home, plain)
        shared(home, plain)
        beside(home, plain)
        aranges(home, plain)
    return cases.done()


sys.exit(main())
