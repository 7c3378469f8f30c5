#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recording.py STRATA - the output of runs has the same numbers in each format, and so has a recording of the run that is
shown later; --hide, --only. Prints TAP."""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.extend([str(TESTS / 'lib'), str(TESTS / 'show')])
import recordings
import tap
from absent import as_root

STRATA = os.path.realpath(sys.argv[1])
# The counts are the same in each run.
PROGRAM = '''
import os
def call(n): return [os.getppid() for _ in range(n)]
def recurse(n): return call(2) if not n else recurse(n - 1)
def once(): call(3)
once(); recurse(3)
for i in range(4):
    call(1)
    call(5)
'''
CALLS = 3 + 2 + 4 * 6
SCRIPT = 'uprobe:libc:getppid { @[comm, ustack] = count(); @bytes[pystack] = sum(arg0 * 0 + 7); } '
READERS = {'folded': recordings.of_folded, 'speedscope': recordings.of_speedscope, 'pprof': recordings.of_pprof,
           'svg': recordings.of_svg, 'html': recordings.of_html_graphs, 'json': recordings.of_recording}
ENDINGS = {'folded': 'folded', 'speedscope': 'speedscope.json', 'pprof': 'pb.gz', 'svg': 'svg', 'html': 'html', 'json': 'json'}


def run(home, *args, script=SCRIPT):
    done = subprocess.run([STRATA, '-q', *map(str, args), '-e', script, '-c', '/usr/bin/python3 calls.py'], capture_output=True,
                          cwd=home, timeout=60)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


def formats(cases, home):
    functions = {f'{name} {home}/calls.py' for name in ('call', 'recurse', 'once', '<module>')} | {'getppid', '__getppid'}
    want = None
    for name, ending in ENDINGS.items():
        run(home, '-o', home / f'x.{ending}')
        seen = READERS[name]((home / f'x.{ending}').read_bytes()).functions(functions)
        want = want or seen
        module = f'<module> {home}/calls.py'
        cases.check(seen == want and seen.all[module] == 8 * CALLS and seen.all[f'recurse {home}/calls.py'] == 8 * 2,
                    f'a run with -o x.{ending}', seen.all, want.all)
    for name in READERS:
        if name != 'json':
            seen = READERS[name](recordings.show(STRATA, home / 'x.json', '-f', name)).functions(functions)
            cases.check(seen == want, f'its recording as {name}', seen.all, want.all)
    again = recordings.show(STRATA, home / 'x.json', '-f', 'recording')
    cases.check(again == (home / 'x.json').read_bytes(), 'a recording that is written again is the same')
    live = run(home, '-f', 'text').decode().strip().split('@bytes[')
    shown = recordings.show(STRATA, home / 'x.json').decode().strip().split('@bytes[')
    cases.check([sorted(part.split('@[')) for part in live] == [sorted(part.split('@[')) for part in shown],
                'a recording as text is what the run prints', *live, *shown)
    labels = [stack[2] for stack in recordings.Pprof((home / 'x.pb.gz').read_bytes()).stacks()]
    cases.check({'comm': 'python3'} in labels and {} in labels, "labels have the script's names", labels)
    mappings = [json.loads(line) for line in (home / 'x.json').read_text().splitlines() if '"build_id"' in line]
    cases.check(any('libc' in m['module'] and len(m['build_id']) == 40 for m in mappings), 'files have build ids', mappings)


def printed(cases, home):
    script = 'uprobe:libc:getppid { @[pystack] = count(); if ((@n++) == 9) { print(@); printf("ten\\n"); } }'
    run(home, '-o', home / 'p.json.gz', script=script)
    data = gzip.decompress((home / 'p.json.gz').read_bytes()).decode()
    cases.check('"type": "printf", "data": "ten\\n"' in data and data.count('"type": "profile"') == 2, 'all that is printed is recorded', data)
    page = recordings.show(STRATA, home / 'p.json.gz', '-f', 'html').decode()
    cases.check(page.count('<section') == 2 and page.count('data-title="@ ') == 2, 'a map that was printed twice is two tabs')
    totals = [t['total'] for t in recordings.scripts(page.encode(), 'functions')]
    cases.check(10 <= totals[0] <= totals[1] == CALLS, '..with its values at that time', totals)
    text = recordings.show(STRATA, home / 'p.json.gz').decode()
    cases.check('\nten\n' in text and text.index(']: ') < text.index('ten'), '..and text has the order', text)


# handle() has a larger share of the time because encode() has one.
SLOWER = '''
import sys, time
def parse(n): return sum(i * i for i in range(n))
def encode(n): return [hash(str(i)) for i in range(n)]
def handle(k): parse(3000); encode(2000 * k)
def idle(): return sorted(range(3000), key=lambda x: -x)
end = time.monotonic() + 1.5
while time.monotonic() < end: handle(int(sys.argv[1])); idle()
'''


def difference(cases, home):
    (home / 'slower.py').write_text(SLOWER)
    for k in 1, 4:
        subprocess.run([STRATA, '-q', '-o', home / f'{k}.json', '-e', 'profile:hz:499 { @[ustack, kstack] = count(); }', '-c',
                        f'/usr/bin/python3 slower.py {k}'], cwd=home, timeout=60, capture_output=True)
    svg = recordings.show(STRATA, home / '4.json', '--diff', home / '1.json', '-f', 'svg').decode()
    data = json.loads(svg.split('CDATA[')[1].split(']]>')[0])
    red = [(row[3], data['names'][row[0]]) for row in data['rows'] if row[7] > 0]
    cases.check(red and max(red, key=lambda r: r[0])[1].startswith('encode '), 'the function that became slower is the widest red one', red[:5])


def libraries(cases, home):
    seen = run(home, '-f', 'folded', '--hide', 'python*', '--hide', 'libc').decode()
    cases.check('call ' in seen and 'Py_' not in seen and '__libc_start' not in seen and 'getppid' not in seen, '--hide', seen)
    seen = run(home, '-f', 'text', '--only', '*/calls.py', script='uprobe:libc:getppid { @[ustack] = count(); }').decode()
    cases.check(seen.count('@[') == 3 and 'getppid' not in seen and ']: 23\n' not in seen and f']: {4 * 6}\n' in seen,
                '--only: stacks that are the same then are one', seen)


WITHOUT_STACKS = '''begin { @n = -5; @u = (uint64)18446744073709551615; @k[1, "a b"] = 3; @s["q"] = "v w"; @c[1] = count();
    @st = stats(5); @stk[1] = stats(5); @av[1] = avg(3); @r[(a = 1, b = "x")] = 3; @t = (1, "x", (2, true)); @b[true] = 1;
    @h = hist(5); @h = hist(700); @h = hist(1024); @h = hist(5000); @one[2] = hist(700); @k1 = hist(1024); @zero = hist(0);
    @below = hist(-1); @below = hist(1); @most = hist((uint64)-1); @fine = hist(5000, 2); @fine = hist(8000, 2);
    @l["a"] = lhist(3, 0, 10, 1); @l["a"] = lhist(30, 0, 10, 1); @l["a"] = lhist(-3, 0, 10, 1);
    @kilo = lhist(2048, 0, 10240, 1024); @half = lhist(1024, 0, 10240, 512); @half = lhist(5000, 0, 10240, 512);
    print((1, "x")); print("a text"); print(@k); exit(); }'''


def without_stacks(cases, home):
    """Maps without stacks, and values, as text: the same as the output of the run."""
    def printed(*args):
        return subprocess.run([STRATA, '-q', *args, '-e', WITHOUT_STACKS], capture_output=True, text=True, timeout=60).stdout

    text = [line for line in printed().splitlines() if line]
    printed('-o', home / 'maps.json')
    (home / 'lines.json').write_text(printed('-f', 'json'))
    for name in 'maps.json', 'lines.json':
        shown = [line for line in recordings.show(STRATA, home / name).decode().splitlines() if line]
        cases.check(len(text) > 60 and shown == text, f'maps without stacks: {name} as text', *set(text) ^ set(shown))


def message(cases, home):
    """A message is recorded as the process wrote it, though stderr is a terminal, which must not get such bytes."""
    program = 'open("/proc/self/comm", "w").write("a\\x1b[1mb"); import os; os.getppid()'
    terminal, stderr = os.openpty()
    subprocess.run([STRATA, '-q', '-o', home / 'm.json', '-e', 'uprobe:libc:getppid { warnf("%s", comm); exit(); }',
                    '-c', f"/usr/bin/python3 -c '{program}'"], stdout=subprocess.DEVNULL, stderr=stderr, timeout=60)
    os.close(stderr)
    os.close(terminal)
    seen = [json.loads(line)['msg'] for line in (home / 'm.json').read_text().splitlines() if '"warnf"' in line]
    cases.check(seen == ['a\x1b[1mb'], 'a message with bytes for a terminal, recorded', seen)


def main():
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home).resolve()
        (home / 'calls.py').write_text(PROGRAM)
        for test in formats, printed, difference, libraries, without_stacks, message:
            test(cases, home)
    return cases.done()


sys.exit(as_root(main))
