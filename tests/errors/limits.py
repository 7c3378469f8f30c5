#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""limits.py STRATA - generated long scripts: strata compiles each, or refuses it with a position, a tag
and the limit. None ends strata by a signal, an assertion or an error of LLVM's."""
import os
import re
import resource
import subprocess
import sys
import tempfile


def repeat(form, n, between=' '):
    return between.join(form.replace('#', str(i)) for i in range(n))


def probe(body):
    return 'begin { ' + body + ' }'


WORDS = 'comm, ' * 499 + 'comm'
LITERAL = '"' + 'a' * 16000 + '"'

# What the script has much of: (the script, the message as a regular expression; None: it compiles).
CASES = {
    'maps of a script': (repeat('begin { @m# = 1 }', 513), r'at most 512 maps: @m512 is one more \[too-large\]'),
    'maps of 600, in one probe': (probe(repeat('@m# = 1;', 600)), r'at most 512 maps.* \[too-large\]'),
    'variables': (probe(repeat('$v# = #; print($v#);', 1000)), None),
    'variables and statements': (probe(repeat('$v# = #; print($v#);', 20000)),
                                 r'more than the 32000 instructions of a BPF function \[too-large\]'),
    'strings in variables': ('config = { max_strlen = 1000000 } ' + probe(repeat('$v# = str(0); print($v#);', 100)),
                             r'need more than 64 MiB of memory \[too-large\]'),
    'probes': (repeat('begin { @a = 1 }', 1000), None),
    'probes of the setting': ('config = { max_probes = 9 } ' + repeat('begin { @a = 1 }', 10),
                              r'10 attach targets or more; max_probes is 9 \[config\]'),
    'missing functions': (repeat('kprobe:vfs_raed#', 300, ',') + ' { @a = 1 }', r'no function vfs_raed0 \[no-place\]'),
    'a chain of macros': ('macro f0(x) { x } ' + ' '.join(f'macro f{i}(x) {{ f{i - 1}(x) }}' for i in range(1, 20000)) +
                          ' begin { print(f19999(1)); }', r'nested more than 400 levels deep \[nesting\]'),
    'attach points of a probe': (repeat('interval:s:1', 1000, ',') + ' { @a = 1 }', None),
    'words of an attach point': (repeat('uprobe', 5000, ':') + ' { }', r'\[attach-point\]'),
    'a long name in an attach point': ('uprobe:/bin/' + 'a' * 100000 + ':f { }', r'\[no-place\]'),
    'records': (probe(repeat('printf("#");', 5000)), None),
    'arguments of printf': (probe('printf("' + '%d ' * 2000 + '"' + ', pid' * 2000 + ')'), None),
    'a literal': (probe('@x = "' + 'a' * 16384 + '"'), r'a string has at most 16383 bytes \[literal\]'),
    'literals': (probe(repeat('@x# = ' + LITERAL + ';', 50)), r'\[too-large\]'),
    'a key of text': (probe('@x[' + LITERAL + '] = 1'), None),
    'a value of text': (probe('@x[1] = ' + LITERAL), None),
    'a name of a map': (probe('@' + 'a' * 100000 + ' = 1'), None),
    'keys of a map': (probe('@x[' + 'pid, ' * 1023 + 'pid] = 1'), None),
    'keys of a map, too many': (probe('@x[' + ', '.join([WORDS] * 9) + '] = 1'),
                                r'more than the 32000 instructions'),
    'a tuple': (probe('print((' + ', '.join([WORDS] * 9) + '))'),
                r'more than the 32000 instructions'),
    'a tuple of long strings': ('config = { max_strlen = 4000000 } ' + probe('print((str(0), str(0), str(0)))'),
                                r'a tuple has at most 8388608 bytes, not 12000009 \[operand\]'),
    'tuples of tuples': (probe('$a = (1, 1); ' + repeat('$a = ($a, $a);', 3)), r'\[var-type\]'),
    'tuples within tuples': (probe('$a = ' + '(' * 17 + '1' + ',)' * 17), r'nested at most 16 deep \[nesting\]'),
    'tuples compared': (probe('$a = (' + WORDS + '); $b = $a; if ($a == $b) { exit() }'), r'\[too-large\]'),
    'loops unrolled in each other': (probe('unroll (100) { ' * 5 + '@x++ ' + '} ' * 5), None),
    'an unrolled loop': (probe('unroll (101) { @x++ }'), r'1 to 100 times, not 101 \[loop\]'),
    'loops in each other': (probe(repeat('for ($i# : 0..100) {', 10) + '@x++ ' + '} ' * 10),
                            r'loops are nested too deeply for this: 7, at most 6 \[too-large\]'),
    'if': (probe(repeat('if (pid == #) { @x = # }', 5000)), None),
    'if, in a tracepoint': ('tracepoint:sched:sched_switch { ' + repeat('if (pid == #) { printf("%d", #) }', 2000) + ' }',
                            None),
    'aggregations': (probe(repeat('@a[#] = count();', 900)), None),
    'statements of a loop': (probe('for $i : 0..9 { ' + repeat('@a[$i] += #; if ($i == #) { @b++; }', 900) + ' }'), None),
    'else if': (probe(repeat('if (pid == #) { @x = # }', 300, ' else ')), None),
    'else if, too many': (probe(repeat('if (pid == #) { @x = # }', 1000, ' else ')),
                          r'nested too deep: the parser has 4000 levels \[nesting\]'),
    'operators': (probe('@x = ' + repeat('pid', 5000, ' + ')), r'more than 400 levels deep \[nesting\]'),
    'parentheses': (probe('@x = ' + '(' * 5000 + '1' + ')' * 5000), r'4000 levels \[nesting\]'),
    'minus': (probe('@x = ' + '- ' * 5000 + 'pid'), r'4000 levels \[nesting\]'),
    'casts': (probe('@x = ' + '(uint8)' * 390 + 'pid'), None),
    'casts, too many': (probe('@x = ' + '(uint8)' * 410 + 'pid'), r'more than 400 levels deep \[nesting\]'),
    'indices': (probe('@x = comm' + '[1]' * 3000), r'more than 400 levels deep \[nesting\]'),
    'a long comparison': (probe('if (' + repeat('comm == "a#"', 300, ' || ') + ') { exit() }'), None),
    'a number': (probe('print(' + '9' * 5000 + ')'), r'\[literal\]'),
    'a parameter': (probe('print($' + '9' * 5000 + ')'), None),
    'elements of a map': ('config = { max_map_keys = 67108865 } begin { @x[1] = 1 }',
                          r'max_map_keys must be a number from 1 to 67108864 \[config\]'),
    'bytes of a string': ('config = { max_strlen = 18446744073709551615 } begin { @x = str(0) }',
                          r'max_strlen must be a number from 1 to 268435456 \[config\]'),
    'pages of the ring buffer': ('config = { perf_rb_pages = 4294967296 } begin { print(1) }',
                                 r'perf_rb_pages must be a number from 1 to 262144 \[config\]'),
    'frames of a stack': (probe('@[ustack(16385)] = 1'), r'the limit of a stack is 1 to 16384, or -1 to -16384 for its outermost frames, not 16385 \[stack\]'),
    'buckets': (probe('@ = lhist(1, 0, 9223372036854775807, 1)'), r'\[range\]'),
    'settings': ('config = { ' + 'max_strlen = 64; ' * 20000 + '} begin { @x = 1 }', None),
    'bytes of a script': ('begin { @x = 1 }\n//' + 'a' * (16 << 20), r'File too large'),
    'a smallest number divided': (probe('print(-9223372036854775808 / -1); print(-9223372036854775808 % -1)'), None),
    'types of themselves': (probe('@a = (@b, 1); @b = (@a, 1)'), r'\[map-type\]'),
    'errors': (probe('#' * 100000), r"unexpected '#' \[syntax\]"),
    'braces': ('{}' * 50000, r"unexpected '{'"),
    'stars of a type': (probe('$x = (uint8' + '*' * 100000 + ')1'), r'at most 16 deep'),
    'stars in a comment': (probe('/*' + '*' * 100000), r'this comment is not closed'),
    'statements in a line': (' ' * 1000000 + probe('@x = 1; ' * 500), None),
    'unknown maps': (probe(repeat('print(@v#);', 30000)), r'@v0 is never assigned \[map\]'),
    'unknown variables': (probe(repeat('print($v#);', 30000)), r'before anything is assigned to it \[variable\]'),
    'variables of blocks': (probe(repeat('{ $v# = 1; }', 3000) + ' print($v0)'), r'not known in this block \[variable\]'),
    'maps, far too many': (probe(repeat('@m# = 1;', 30000)), r'at most 512 maps: @m512 is one more \[too-large\]'),
    'terms in C': ('struct a { int x[1' + '+1' * 200000 + ']; };' + probe('exit()'), r'libclang cannot read'),
    'macros in C': (''.join(f'#define A{n} A{n - 1}+A{n - 1}\n' for n in range(1, 18)) +
                    '#define A0 1\nstruct a { int x[A17]; };' + probe('exit()'), r'libclang cannot read'),
    'structs in C': ('struct a { ' + 'struct { ' * 100000 + '} ' * 100000 + '};' + probe('exit()'), r'nesting level'),
    'brackets in C': ('struct a { ' * 100000, r'is not closed \[c\]'),
    'definitions in C': (repeat('struct a# { int x; };', 3000) + probe('exit()'), None),
    'names for C': ('#define X 1\n' + probe(repeat('$v# = x#; ', 5000)), r'\[name\]'),
    'NUL bytes': ('\0' * 100000, r'unexpected byte 0x00 \[syntax\]'),
    'a pattern': ('config = { max_probes = 16777216; missing_probes = ignore } kprobe:' + '*a' * 2000 + ' { }', None),
}


def limit_time():
    """A loop without an end is known by CPU time, however busy the machine is."""
    resource.setrlimit(resource.RLIMIT_CPU, (100, 100))


def run(strata, folder, script):
    with open(os.path.join(folder, 'long.bt'), 'w', encoding='latin1') as f:
        f.write(script)
    return subprocess.run([strata, '--dry-run', '-d', 'image', 'long.bt'], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit_time)


def wrong(done, message):
    errors = done.stderr.decode(errors='replace')
    first = next((line for line in errors.splitlines() if 'error' in line), '')
    if message is None:
        return f'exit status {done.returncode}: {first[:200]}' if done.returncode else None
    if done.returncode != 1:
        return f'exit status {done.returncode}, not 1'
    return None if re.search(message, first) else f'not {message}: {first[:200]}'


def main():
    print(f'1..{len(CASES)}')
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for n, (name, (script, message)) in enumerate(CASES.items(), 1):
            why = wrong(run(os.path.abspath(sys.argv[1]), folder, script), message)
            failed += bool(why)
            print(f"{'not ok' if why else 'ok'} {n} - {name}", flush=True)
            if why:
                print('#', why)
    sys.exit(bool(failed))


main()
