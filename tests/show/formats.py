#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""formats.py STRATA - one recording in each format: each function has the same numbers in all. Sizes and times of
100,000 stacks; differences; invalid recordings. Prints TAP."""
import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import recordings
import tap
from recordings import Pprof, Recording, show

STRATA = os.path.realpath(sys.argv[1])
IS_FAST = '--slow' not in sys.argv # not of a build with sanitizers

READERS = {
    'folded': recordings.of_folded,
    'speedscope': recordings.of_speedscope,
    'pprof': recordings.of_pprof,
    'otlp': recordings.of_otlp,
    'rows': recordings.of_rows,
    'svg': recordings.of_svg,
    'html': recordings.of_html_graphs,
    'recording': recordings.of_recording,
}


def equal(cases, home):
    path = recordings.mixed(home / 'm.json')
    want = recordings.of_recording(path.read_bytes())
    names = set(want.all)
    cases.check(len(names) == 7 and want.all['main'] == 5 + 11 + 100 + 4097 + 999 + 5, 'the contents of the recording', want.all)
    for name, read in READERS.items():
        out = show(STRATA, path, '-f', name)
        seen = read(out).functions(names)
        cases.check(seen == want, f'{name}: functions have the same numbers', seen.all - want.all, want.all - seen.all,
                    seen.own - want.own, want.own - seen.own)
        if name == 'recording':
            cases.check(out == show(STRATA, path, '-f', 'json'), 'json is the recording')
    seen = recordings.of_html_tables(show(STRATA, path, '-f', 'html')).functions(names)
    cases.check(seen == want, 'the tables of html, too', seen.all, want.all)


def deep(cases, home):
    """Endless recursion: formats have all frames, pictures the outermost."""
    r = Recording()
    r.map()
    r.stack(['main'] + ['recurse'] * 40000 + ['leaf'], 7)
    r.stack(['main', 'leaf'], 3)
    r.write(home / 'deep.json')
    want = recordings.of_recording((home / 'deep.json').read_bytes())
    cases.check(want.all == {'main': 10, 'recurse': 7, 'leaf': 10}, 'deep stacks')
    for name in 'folded', 'speedscope', 'pprof', 'otlp', 'rows':
        cases.check(READERS[name](show(STRATA, home / 'deep.json', '-f', name)) == want, f'deep stacks: {name} has the same numbers')
    svg = recordings.of_svg(show(STRATA, home / 'deep.json', '-f', 'svg'))
    cases.check(svg.all['recurse'] == 7 and svg.own['(deeper frames)'] == 7, 'deep stacks: svg reports omitted frames', svg.own)
    table = recordings.scripts(show(STRATA, home / 'deep.json', '-f', 'html'), 'functions')[0]['list']
    cases.check(['leaf', 1, 10, 10] in table, 'deep stacks: the table of html is exact', table)
    lines = show(STRATA, home / 'deep.json').decode().count('recurse')
    cases.check(lines == 40000, 'deep stacks: text has all', lines)


def nothing(cases, home):
    """Values without a stack are shown, so that the parts add up to the whole."""
    r = Recording()
    r.map()
    r.stack(['main', 'leaf'], 3)
    r.stack([], 97)
    r.write(home / 'nothing.json')
    svg = recordings.of_svg(show(STRATA, home / 'nothing.json', '-f', 'svg'))
    cases.check((svg.all['all'], svg.own['[no stack]'], svg.own['leaf']) == (100, 97, 3), 'no stack: a part of the picture', svg.own)
    seen = show(STRATA, home / 'nothing.json', '-f', 'folded').decode()
    cases.check('[no stack] 97\n' in seen, 'no stack: a line of folded', seen)


def large(cases, home):
    """With many stacks, exact values remain exact."""
    for n in 1, 1000, 100000 if IS_FAST else 3000:
        path = recordings.forest(home / f'{n}.json', n)
        want = recordings.of_recording(path.read_bytes())
        for name in ('folded', 'speedscope', 'pprof', 'rows', 'otlp')[:5 if n <= 3000 else 4]: # the reader of otlp is slow
            cases.check(READERS[name](show(STRATA, path, '-f', name)) == want, f'{n} stacks: {name} has the same numbers')
        tree = recordings.of_svg(show(STRATA, path, '-f', 'svg'))
        cases.check(tree.all['all'] == sum(want.own.values()), f'{n} stacks: svg has the same sum')
        page = show(STRATA, path, '-f', 'html')
        table = recordings.scripts(page, 'functions')[0]
        seen = {row[0]: (row[2], row[3]) for row in table['list']}
        cases.check(len(seen) + table['left_out'] == len(want.all) and
                    all(v == (want.own[k], want.all[k]) for k, v in seen.items()), f'{n} stacks: the table of html is exact')


# A separate process, since the maximum of a child begins with its parent's size.
MEASURE = '''
import json, os, subprocess, sys
_, status, used = os.wait4(subprocess.Popen(sys.argv[1:]).pid, 0)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
sys.exit(status != 0)
'''

# A recording is lines of JSON.
READ = 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]'


def measured(command):
    """Returns (whether it succeeds, CPU seconds, KiB of memory)."""
    done = subprocess.run([sys.executable, '-c', MEASURE, *command], capture_output=True, text=True)
    return done.returncode == 0, *json.loads(done.stdout or '[99, 99]')


def limits(cases, home):
    """The limits of time are multiples of the time in which Python reads the file, since machines and their load differ."""
    if not IS_FAST:
        return
    good, reads, _ = measured([sys.executable, '-c', READ, home / '100000.json'])
    cases.check(good, 'Python reads 100,000 stacks')
    for name, most in ('svg', 10 << 20), ('html', 12 << 20):
        out = home / f'x.{name}'
        good, cpu, memory = measured([STRATA, 'show', home / '100000.json', '-o', out])
        cases.check(good and out.stat().st_size < most, f'{name}: 100,000 stacks are {out.stat().st_size >> 10} KiB')
        cases.check(cpu <= 2 * reads and memory <= 200 << 10,
                    f'{name}: {cpu:.2f} s of CPU, {cpu / reads:.1f} times the reading; {memory >> 10} MiB')
    said = (home / 'x.svg').read_text()
    cases.check('are summed up</text>' in said, 'merged frames are reported')


def pprof(cases, home):
    p = Pprof(show(STRATA, home / 'm.json', '-f', 'pprof'))
    types = [(p.strings[t[1]], p.strings[t[2]]) for t in p.types]
    cases.check(types == [('samples', 'count'), ('bytes', 'bytes'), ('us', 'microseconds'), ('h', 'count')], 'sample types', types)
    stacks = list(p.stacks())
    cases.check(stacks[2][2] == {'comm': 'node', 'pid': 8} and stacks[2][1] == [100, 0, 0, 0], 'labels of the key', stacks[2])
    cases.check(stacks[0][0] == ['do_syscall_64', 'fast', 'handler /srv/app.py', 'handler /srv/app.py', 'main'],
                'the innermost first', stacks[0])
    files = {(p.strings[m[5]], p.strings[m.get(6, 0)]) for m in p.mappings.values()}
    cases.check(('/bin/app', 'ab' * 20) in files and ('[kernel.kallsyms]', '') in files, 'mappings with build ids', files)
    first = p.strings[next(iter(p.mappings.values()))[5]]
    cases.check(first == '/bin/app', 'the first mapping is the program', first)
    at = {(p.names[i], loc.get(3, 0), loc['lines'][0].get(2, 0)) for i, loc in p.locations.items()}
    cases.check({('main', 4096, 0), ('main', 4112, 0), ('fast', 4200, 7), ('handler /srv/app.py', 0, 3)} <= at,
                'locations with addresses and lines', at)
    framed = Pprof(show(STRATA, home / 'm.json', '-f', 'pprof', '--frames'))
    cases.check(next(framed.stacks())[0][-2:] == ['7', 'python3'], '--frames: keys are frames, too', next(framed.stacks()))


def options(cases, home):
    path = home / 'm.json'
    text = show(STRATA, path).decode()
    cases.check('@[python3, 7, \n        fast\n        handler /srv/app.py:3\n        handler /srv/app.py:5\n        main+16\n, \n'
                '        do_syscall_64\n]: 5\n' in text.replace('fast /src/app.c:7', 'fast').replace('fast+0', 'fast').replace(
                    'do_syscall_64+0', 'do_syscall_64'), 'text', text)
    cases.check('@us[' in text and ']: 333\n' in text and '[4, 8)' not in text.split('@us')[0], 'text: an average is one', text)
    hidden = show(STRATA, path, '-f', 'folded', '--hide', 'app*').decode()
    cases.check('main' not in hidden.replace('main.serve', '') and 'handler /srv/app.py' not in hidden and
                'onRequest' in hidden, '--hide', hidden)
    only = recordings.of_folded(show(STRATA, path, '-f', 'folded', '--only', '*.py', '--labels'))
    cases.check(set(only.all) <= {'handler /srv/app.py', 'handler /srv/other.py', '[no stack]', '[limit reached]'}, '--only', only.all)
    labels = show(STRATA, path, '-f', 'folded', '--labels').decode()
    cases.check('python3' not in labels, '--labels', labels)
    one = show(STRATA, path, '-n', 1).decode()
    cases.check(one.count('\n@') + one.startswith('@') == 4, '--top: one entry of each of four maps', one)
    lines = json.loads(show(STRATA, path, '-f', 'svg', '--lines').decode().split('CDATA[')[1].split(']]>')[0])
    cases.check(lines['lines'] == 2 and {3, 5} <= {row[5] for row in lines['rows']}, '--lines', lines['rows'])
    for name, magic in ('x.svg', b'<?xml'), ('x.html', b'<!DOCTYPE'), ('x.pb.gz', b'\x1f\x8b'), ('x.pprof', b'\x1f\x8b'), \
            ('x.speedscope.json', b'{"$schema"'), ('x.folded', b'python3;'), ('x.json', b'{"type": "recording"'), \
            ('x.svg.gz', b'\x1f\x8b'), ('x.json.gz', b'\x1f\x8b'), ('x.json.zst', b'\x28\xb5\x2f\xfd'), ('x.txt', b'@['):
        show(STRATA, path, '-o', home / name)
        seen = (home / name).read_bytes()
        cases.check(seen.startswith(magic), f'-o {name}', seen[:40])
    cases.check(gzip.decompress((home / 'x.svg.gz').read_bytes()) == show(STRATA, path, '-f', 'svg'), 'compressed, it is the same')
    cases.check(gzip.decompress((home / 'x.pb.gz').read_bytes())[:1] == b'\n', 'pprof is compressed once')
    folded = show(STRATA, path, '-f', 'folded')
    for name in 'x.json.gz', 'x.json.zst':
        cases.check(show(STRATA, home / name, '-f', 'folded') == folded, f'a compressed recording is read: {name}')
        data = (home / name).read_bytes()
        (home / 'cut').write_bytes(data[:-5])
        cut = subprocess.run([STRATA, 'show', home / 'cut'], capture_output=True, text=True)
        cases.check(cut.returncode == 1 and 'damaged' in cut.stderr, f'one that is cut is not: {name}', cut.stderr)
    (home / 'two.gz').write_bytes((home / 'x.json.gz').read_bytes() + gzip.compress(b'\n'))
    cases.check(show(STRATA, home / 'two.gz', '-f', 'folded') == folded, 'one of two parts is read')
    piped = subprocess.run([STRATA, 'show', '-', '-f', 'folded'], input=(home / 'x.json.gz').read_bytes(), capture_output=True)
    cases.check(piped.stdout == show(STRATA, path, '-f', 'folded'), '- is the standard input', piped.stderr)


def runs(home, slow, name='slow', program='app.py'):
    """Returns the runs of a program whose main() calls fast(), slow() and a handler that calls both."""
    r = Recording()
    r.map()
    of = {'kind': 'python', 'file': f'/srv/{program}'}
    for stack, n in (['main', 'fast'], 500), (['main', name], slow), (['main', 'handler', 'fast'], 200), \
            (['main', 'handler', name], slow // 2), (['main', 'handler'], 30):
        r.stack(stack, n, **of)
    return r.write(home / f'{program}-{slow}.json')


def widest_red(svg):
    data = json.loads(svg.decode().split('CDATA[')[1].split(']]>')[0])
    red = [(row[3], data['names'][row[0]]) for row in data['rows'] if row[7] > 0]
    return max(red) if red else None, [data['names'][row[0]] for row in data['rows'] if row[7] < 0], data


def diff(cases, home):
    before = runs(home, 100)
    widest, blue, data = widest_red(show(STRATA, runs(home, 900), '-f', 'svg', '--diff', before))
    cases.check(widest == (900, 'slow /srv/app.py'), 'the function that is slower is the widest red one', widest, data['rows'])
    cases.check(blue and set(blue) == {'fast /srv/app.py'}, '..the other one is blue', blue)
    widest, _, data = widest_red(show(STRATA, runs(home, 900, program='copy.py'), '-f', 'svg', '--diff', before))
    cases.check(widest == (900, 'slow /srv/copy.py'), '..also in a copy of the program', widest, data['rows'])
    same = before.read_text().replace('"value": [500]', '"value": [1500]').replace('[200]', '[600]').replace(
        '"value": [100]', '"value": [300]').replace('"value": [50]', '"value": [150]').replace('"value": [30]', '"value": [90]')
    (home / 'thrice.json').write_text(same)
    widest, blue, _ = widest_red(show(STRATA, home / 'thrice.json', '-f', 'svg', '--diff', before))
    cases.check(widest is None and not blue, 'a run that took three times as long is the same', widest, blue)
    tables = recordings.scripts(show(STRATA, runs(home, 900), '-f', 'html', '--diff', before), 'functions')
    rows = {row[0]: row[2:] for row in tables[0]['list']}
    cases.check(rows['slow /srv/app.py'] == [1350, 1350, 150, 150], 'html has both numbers', rows)


WRONG = {
    'nothing': b'',
    'no json': b'hello\n',
    'half': b'{"type": "recording", "version": 1}\n{"type": "frame", ',
    'newer': b'{"type": "recording", "version": 2}\n',
    'entry first': b'{"key": [1], "value": [1]}\n',
    'no such kind': b'{"type": "profile", "value": {"kind": "x"}, "key": [{"label": "a", "mode": "func"}]}\n',
    'no key': b'{"type": "profile", "value": {"kind": "count"}, "key": []}\n',
    'no such mode': b'{"type": "profile", "value": {"kind": "count"}, "key": [{"label": "a", "mode": "x"}]}\n',
    'many buckets': b'{"type": "profile", "value": {"kind": "lhist", "min": 0, "max": 4000000000, "step": 1}, "key": [{"mode": "func"}]}\n',
    'no such frame': b'{"type": "profile", "value": {"kind": "count"}, "key": [{"mode": "func"}]}\n{"key": [{"frames": [0]}], "value": [1]}\n',
    'other parts': b'{"type": "profile", "value": {"kind": "count"}, "key": [{"mode": "func"}]}\n{"key": [], "value": [1]}\n',
    'overflow': b'{"type": "profile", "value": {"kind": "count"}, "key": [{"mode": "func"}]}\n' +
                b'{"key": [{"frames": []}], "value": [18446744073709551615]}\n' * 2,
    'row without value': b'{"stack": ["a"]}\n',
    'row with a text as value': b'{"stack": ["a"], "value": {}}\n',
    'row with a number as frame': b'{"stack": ["a", 3], "value": 1}\n',
    'row with other members': b'{"stack": ["a"], "value": 1}\n{"stack": ["a"], "host": "h", "value": 1}\n',
    'row with another member': b'{"stack": ["a"], "host": "h", "value": 1}\n{"stack": ["a"], "hos": "h", "value": 1}\n',
    'row with many members': b'{"stack": ["a"], "value": 1' + b''.join(b', "m%d": 1' % i for i in range(80)) + b'}\n',
    'rows whose sum is too large': b'{"stack": ["a"], "value": "9223372036854775807"}\n' * 3,
    'damaged': gzip.compress(b'{"type": "recording", "version": 1}\n' * 1000)[:-20],
}


def wrong(cases, home):
    if IS_FAST: # a line of 300 MB in a small file
        WRONG['long'] = gzip.compress(b'x' * (300 << 20), 1)
    for what, data in WRONG.items():
        (home / 'wrong.json').write_bytes(data)
        done = subprocess.run([STRATA, 'show', home / 'wrong.json', '-f', 'svg'], capture_output=True, text=True, timeout=20)
        cases.check(done.returncode == 1 and 'wrong.json' in done.stderr and not done.stdout, f'wrong: {what}', done.stderr, done.stdout)
    for args, want in ((), 'takes the file'), (['a', 'b'], 'cannot read a'), (['-f', 'svgg', 'a'], 'did you mean svg'), (['/no/file'], 'cannot read'), \
            (['--diff', home / 'm.json', '-f', 'pprof', home / 'm.json'], 'cannot show a difference'), (['--tip', 'x'], 'unknown option'):
        done = subprocess.run([STRATA, 'show', *args], capture_output=True, text=True, timeout=20)
        cases.check(done.returncode == 1 and want in done.stderr, f'show {" ".join(map(str, args))}: {want}', done.stderr)


def json_lines(cases, home):
    """Output of -f json is read, too."""
    stack = {'frames': [{'kind': 'python', 'function': 'f', 'file': 'a.py', 'line': 3}, {'kind': 'native', 'function': 'main', 'offset': 4}]}
    lines = [{'type': 'attached_probes', 'count': 1, 'data': {'probes': 1}}, {'type': 'printf', 'data': 'hello\n'},
             {'type': 'map', 'data': {'@x': {'..': 3}}, 'entries': [{'key': ['comm', stack], 'value': 3}, {'key': ['c2', stack], 'value': '9007199254740993'}]}]
    (home / 'lines.json').write_text('\n'.join(map(json.dumps, lines)) + '\n')
    seen = show(STRATA, home / 'lines.json', '-f', 'folded').decode()
    cases.check(seen == 'comm;main;f a.py_[j] 3\nc2;main;f a.py_[j] 9007199254740993\n', '-f json is a recording, too', seen)
    seen = show(STRATA, home / 'lines.json').decode()
    cases.check(seen.startswith('hello\n@x[comm, \n        f a.py:3\n        main+4\n]: 3\n'), '..the output of the script is kept', seen)


def results(cases, home):
    """Rows that a database returned."""
    lines = [{'stack': ['leaf', 'handler /srv/app.py', 'main'], 'value': 3}, {'value': '9007199254740993', 'stack': ['main']},
             {'stack': [], 'value': 2}]
    (home / 'r.jsonl').write_text('\n'.join(map(json.dumps, lines)) + '\n')
    seen = show(STRATA, home / 'r.jsonl', '-f', 'folded').decode()
    cases.check(sorted(seen.splitlines()) == ['[no stack] 2', 'main 9007199254740993', 'main;handler /srv/app.py;leaf 3'],
                'rows with a stack and a value', seen)
    keyed = [{'host': 'a', 'stack': ['main'], 'pid': 7, 'value': 3}, {'host': 'b\x1b[31m', 'stack': ['main'], 'pid': 8, 'value': 4}]
    (home / 'k.jsonl').write_text('\n'.join(map(json.dumps, keyed)) + '\n')
    seen = show(STRATA, home / 'k.jsonl', '-f', 'folded').decode()
    cases.check(seen.splitlines()[0] == 'a;7;main 3' and '\x1b' not in seen, '..other members are parts of the key', seen)
    sums = show(STRATA, home / 'r.jsonl', home / 'r.jsonl', '-f', 'folded').decode()
    cases.check('main;handler /srv/app.py;leaf 6\n' in sums, '..two results are added up', sums)
    cases.check('        main\n' in show(STRATA, home / 'r.jsonl').decode(), '..as text')
    for name, slow in ('before', 10), ('after', 90):
        lines = [{'stack': ['slow', 'main'], 'value': slow}, {'stack': ['fast', 'main'], 'value': 50}]
        (home / f'{name}.jsonl').write_text('\n'.join(map(json.dumps, lines)) + '\n')
    widest, blue, _ = widest_red(show(STRATA, home / 'after.jsonl', '-f', 'svg', '--diff', home / 'before.jsonl'))
    cases.check(widest == (90, 'slow') and blue == ['fast'], '..and become a picture of changes', widest, blue)


def main():
    cases = tap.Cases()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        for test in equal, deep, nothing, large, limits, pprof, options, diff, wrong, json_lines, results:
            test(cases, home)
    return cases.done()


sys.exit(main())
