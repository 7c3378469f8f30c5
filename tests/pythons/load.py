#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""load.py - a web application under load: are its stacks whole and right?

    load.py STRATA FRAGMENTS SECONDS NAME...    root; names of Pythons: see tests/pythons/get
    load.py --program                   the application, in the Python under test
    load.py --client PORT               its client

Compares profile:hz:499 with Python's own samples of the same time: the handler of a timer's signal
records the running function (the frame that it is given). The shares of the ten hottest functions
may differ by 3 points; 99.5 % of the stacks have to be complete. Where Debian's debug symbols exist
(debian-debug-*), every frame in the eval loop by the symbols has to be in the ranges that strata
found. Prints a table; fails if one of these does not hold."""
import collections
import functools
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import wsgiref.simple_server

HZ = 499
COMPLETE = 99.5
POINTS = 3.0


# ---- the application ---------------------------------------------------------

# Functions have loops, and no C function runs for long: Python handles a signal at the next
# loop iteration or call, and several pending ones as one.

def primes(limit):
    found = []
    for n in range(2, limit):
        for p in found:
            if p * p > n:
                found.append(n)
                break
            if n % p == 0:
                break
        else:
            found.append(n)
    return found


def records(first, count):
    return [{'id': n, 'name': 'name %d' % n, 'tags': ['a', 'b', str(n)], 'at': [n / 7, n / 3]}
            for n in range(first, first + count)]


def documents(count):
    total = 0
    for first in range(0, count, 100):
        text = json.dumps(records(first, 100))
        found = json.loads(text)
        for document in found:
            total += len(document['tags'])
        found = document = None # freed here, not in the next function
    return total


def replacement(match):
    word, total = match.group(0), 0
    for _ in range(100):
        for c in word:
            if c > 'm':
                total += 1
    return word.upper() if total % 200 else word


def substitute(text):
    return re.sub(r'[a-z]{4,}', replacement, text)


def weight(item):
    total = 0
    for i in range(2000):
        total += (item * 2654435761 >> i % 32) & 15
    return total


def sort(items):
    return sorted(items, key=weight)


def add(a, b):
    for _ in range(1000):
        a = (a * 31 + b) % 65537
    return a


def fold(items):
    return functools.reduce(add, items)


class Page:
    def __init__(self, title):
        self.title = title
        self.rows = []

    def row(self, cells):
        text = '<tr>'
        for cell in cells:
            text += '<td>%s</td>' % cell
        self.rows.append(text + '</tr>')

    def __str__(self):
        return '<h1>%s</h1><table>%s</table>' % (self.title, '\n'.join(self.rows))


def squares(n):
    total = 0
    for i in range(n):
        for k in range(500):
            total = (total + i * k) % 9973
        yield total


def render(n):
    page = Page('page %d' % n)
    for value in squares(40):
        page.row([value + i for i in range(400)])
    return str(page)


def application(environ, start_response):
    n = int(environ['PATH_INFO'].strip('/') or 0)
    parts = [len(primes(5000)), documents(2000), len(substitute('some Words here and Throughout ' * 10)),
             len(sort(range(n, n + 50))), fold(range(n, n + 50)), len(render(n))]
    start_response('200 OK', [('Content-Type', 'text/html')])
    return [repr(parts).encode()]


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *args):
        pass


class Sampler:
    """Samples HZ times a second of CPU time, from SIGUSR1 to SIGUSR2."""

    def __init__(self):
        self.seen = collections.Counter()
        signal.signal(signal.SIGPROF, self.look)
        signal.signal(signal.SIGUSR1, self.start)
        signal.signal(signal.SIGUSR2, self.tell)

    def look(self, number, frame):
        self.seen[frame.f_code] += 1

    def start(self, number, frame):
        signal.setitimer(signal.ITIMER_PROF, 1 / HZ, 1 / HZ)

    def tell(self, number, frame):
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps([[getattr(code, 'co_qualname', code.co_name), code.co_filename, n]
                          for code, n in self.seen.items()]), flush=True)
        os._exit(0)


def program():
    server = wsgiref.simple_server.make_server('127.0.0.1', 0, application, handler_class=Quiet)
    sampler = Sampler()
    print(server.server_port, flush=True)
    server.serve_forever()
    return sampler


def client(port):
    n = 0
    while True:
        connection = http.client.HTTPConnection('127.0.0.1', port)
        try:
            connection.request('GET', '/%d' % n)
            connection.getresponse().read()
        except OSError:
            return
        connection.close()
        n += 1


# ---- the tracer --------------------------------------------------------------

SCRIPT = '''
profile:hz:%d { @stacks[ustack(4096)] = count(); @leaves[pystack(1)] = count(); }
interval:s:%s { exit(); }
'''


def entries(out):
    """Yields (map, lines of the stack, count)."""
    at = None
    for line in out:
        start = re.match(r'@(\w+)\[(.*)', line)
        end = re.match(r'(.*)\]: (\d+)$', line)
        if start and not end:
            at, lines = start.group(1), []
            if start.group(2).strip():
                lines.append(start.group(2).strip())
        elif end and at:
            yield at, lines, int(end.group(2))
            at = None
        elif start and end: # an empty stack
            yield start.group(1), [], int(end.group(2))
        elif at and line.strip():
            lines.append(line.strip())


def function(line):
    """(name, file) of a Python frame's line, or None."""
    found = re.match(r'(.*) (\S+):\d+$', line)
    return found and (found.group(1), found.group(2))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def address(line, module, main):
    """The address of a native frame in the module, if it may be in the loop; else None."""
    found = re.fullmatch(re.escape(module) + r'\+0x([0-9a-f]+)', line)
    if found:
        return int(found.group(1), 16)
    found = re.fullmatch(r'_PyEval_EvalFrameDefault\+(\d+)', line)
    return main + int(found.group(1)) if found else None


def within(at, ranges):
    return any(start <= at < end for start, end in ranges)


class Loop:
    """The eval loop of a Python: the ranges that strata finds, and the true ones."""

    def __init__(self, parts, name, elf):
        import pythons
        word = output(parts, '--ranges', elf).split()
        self.found = [tuple(int(x, 16) for x in r.split('-')) for r in word[2].split(',')]
        self.true = pythons.true_ranges(name)
        self.module = elf.name
        symbols = output('readelf', '-sW', '--dyn-syms', elf)
        self.main = int(re.search(r'([0-9a-f]+) +\d+ FUNC .* _PyEval_EvalFrameDefault\b', symbols).group(1), 16)

    def look(self, line):
        """'missed': in the loop, but not in the found ranges; 'native': found, but printed as a
        native frame, since it ran no Python function (yet); None: elsewhere."""
        at = address(line, self.module, self.main)
        if at is None:
            return None
        if within(at, self.found):
            return 'native'
        return 'missed' if within(at, self.true or []) else None


def run(strata, seconds, python):
    """(what strata printed, Python's own samples)"""
    from traced import attached  # not at the top: the program runs in other Pythons
    traced = subprocess.Popen([python, __file__, '--program'], stdout=subprocess.PIPE, text=True)
    port = traced.stdout.readline().strip()
    asking = subprocess.Popen([python, __file__, '--client', port])
    tracer = subprocess.Popen([strata, '-p', str(traced.pid), '-e', SCRIPT % (HZ, seconds)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    attached(tracer)
    traced.send_signal(signal.SIGUSR1)
    printed = tracer.stdout.read().splitlines()
    traced.send_signal(signal.SIGUSR2)
    account = json.loads(traced.stdout.readline())
    for process in (traced, asking, tracer):
        process.kill()
        process.wait()
    return printed, account


def judge(printed, account, loop):
    """The parts of a row of the table, and the errors."""
    total, marks, leaves = 0, collections.Counter(), collections.Counter()
    looked = {'missed': 0, 'native': 0, None: 0}
    for where, lines, count in entries(printed):
        if where == 'leaves':
            found = [f for f in map(function, lines) if f]
            leaves[found[0] if found else None] += count
            continue
        total += count
        marks.update({line: count for line in lines if line.startswith('[') and line.endswith(']')})
        for line in lines:
            looked[loop.look(line)] += count
    theirs = collections.Counter()
    for name, file, cost in account:
        theirs[name, file] += cost
    ours, theirs_total = sum(leaves.values()), sum(theirs.values())
    hottest = [(f, 100 * n / ours, 100 * theirs[f] / theirs_total)
               for f, n in leaves.most_common(11) if f][:10]
    complete = 100 * (1 - sum(marks.values()) / total)
    worst = max((abs(a - b) for _, a, b in hottest), default=0)
    wrong = [] if hottest else ['there is no Python']
    if complete < COMPLETE:
        wrong.append(f'{complete:.2f} % are complete')
    if worst > POINTS:
        wrong.append(f'a function differs by {worst:.1f} points')
    if looked['missed']:
        wrong.append('there are addresses in the eval loop that are not known to be')
    summary = (f'{total} stacks, {complete:.2f} % complete, {100 * leaves[None] / ours:.2f} % without Python, '
               f'differ by {worst:.2f} points at most, eval loop: {looked["missed"]} not in its ranges'
               f'{"" if loop.true else " (no symbols to tell by)"}, {looked["native"]} shown as native')
    return summary, marks, hottest, wrong


def main(strata, parts, seconds, names):
    import pythons
    failed = False
    for name in names:
        directory = pythons.get(name)
        printed, account = run(strata, seconds, directory / 'python')
        summary, marks, hottest, wrong = judge(printed, account, Loop(parts, name, (directory / 'elf').resolve()))
        print(f'{name}: {summary}')
        for mark, count in marks.most_common():
            print(f'    {count:6} {mark}')
        for (function_name, file), a, b in hottest:
            print(f'    {a:6.2f} % {b:6.2f} %  {function_name} {pathlib.Path(file).name}')
        for text in wrong:
            print(f'    WRONG: {text}')
        sys.stdout.flush()
        failed |= bool(wrong)
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--program':
        program()
    elif sys.argv[1] == '--client':
        client(int(sys.argv[2]))
    elif os.geteuid():
        print('needs root')
        sys.exit(77)  # skipped
    else:
        sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
