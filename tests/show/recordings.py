# SPDX-License-Identifier: Apache-2.0
"""recordings.py - makes recordings in the format of strata -o x.json for tests, and reads the numbers of each format:
{function: (self, total)}."""
import collections
import gzip
import html
import json
import pathlib
import random
import re
import subprocess
import xml.etree.ElementTree as xml

SVG = '{http://www.w3.org/2000/svg}'
# Names with a meaning in HTML, XML, JSON or on a terminal.
HOSTILE = ['<script>alert(1)</script>', '"quotes\' and `ticks`', 'x' * 10000, '</script><img src=x onerror=alert(2)>',
           ']]><svg onload="alert(3)"/>', '${alert(4)}', 'a&lt;b&amp;', 'caf\u00e9 \u4e2d \U0001f525', 'bell\x07esc\x1b[31m',
           'bad\ufffe\uffff', 'semi;colon', 'back\\slash', 'new\nline', '\u2028sep', '__proto__', 'constructor', '0', '-1']


class Recording:
    """Lines of a recording."""

    def __init__(self):
        self.lines = [json.dumps({'type': 'recording', 'version': 1, 'strata': 'test', 'host': 'h', 'kernel': '6.1'})]
        self.frames = {}

    def frame(self, function, kind='native', **more):
        key = (function, kind, *sorted(more.items()))
        if key not in self.frames:
            self.frames[key] = len(self.frames)
            self.lines.append(json.dumps({'type': 'frame', 'kind': kind, 'function': function, **more}))
        return self.frames[key]

    def map(self, name='', kind='count', key=({'label': 'stack', 'mode': 'func'},), unit='count', **value):
        self.lines.append(json.dumps({'type': 'profile', 'name': name, 'unit': unit, 'time': 1700000000000000000, 'divided_by': 1,
                                      'value': {'kind': kind, **value}, 'key': list(key)}))

    def entry(self, key, *values):
        self.lines.append(json.dumps({'key': [{'frames': part} if isinstance(part, list) else part for part in key],
                                      'value': list(values)}))

    def stack(self, names, n, **more):
        """The outermost first."""
        self.entry([[self.frame(name, **more) for name in reversed(names)]], n)

    def write(self, path, invalid=False):
        data = '\n'.join(self.lines).encode() + b'\n'
        if invalid:
            data = data.replace(b'INVALID', b'\xff\xfe\xc3(')
        path = pathlib.Path(path)
        path.write_bytes(gzip.compress(data) if path.name.endswith('.gz') else data)
        return path


def forest(path, n, seed=1):
    """n different stacks of a tree of calls; the weights have few values, and most are small."""
    r, rnd, seen = Recording(), random.Random(seed), set()
    names = [f'module_{i % 97}::function_{i}' for i in range(20000 if n > 1000 else 300)]
    ids = [r.frame(name, file=f'/src/m{i % 97}.c', line=i % 1000 + 1, module=f'/lib/lib{i % 40}.so') for i, name in enumerate(names)]
    r.map()
    while len(seen) < n:
        node, stack = 1, []
        for depth in range(rnd.randint(4, 40)):
            node = (node * 1103515245 + rnd.choice((0, 1, 1, 2, 3) if depth < 12 else (0, 0, 0, 0, 1)) * 12345 + depth) % len(names)
            stack.append(ids[node])
        if tuple(stack) not in seen:
            seen.add(tuple(stack))
            r.entry([stack[::-1]], min(5000, int(rnd.paretovariate(1.1))))
    return r.write(path)


def mixed(path):
    """Several maps, kinds, keys, recursion, inlined functions, reasons: small enough that no format merges frames."""
    r = Recording()
    main = r.frame('main', module='/bin/app', build_id='ab' * 20, address=4096, offset=16)
    other = r.frame('main', module='/bin/app', build_id='ab' * 20, address=4112, offset=32)
    inlined = r.frame('fast', module='/bin/app', build_id='ab' * 20, address=4200, inlined=True, file='/src/app.c', line=7)
    handler = r.frame('handler', 'python', file='/srv/app.py', line=3)
    again = r.frame('handler', 'python', file='/srv/app.py', line=5)
    namesake = r.frame('handler', 'python', file='/srv/other.py', line=5)
    syscall = r.frame('do_syscall_64', 'kernel', module='kernel', address=2**64 - 4096)
    js = r.frame('onRequest', 'v8', file='/srv/a.js', line=9, column=4)
    go = r.frame('main.serve', 'go', module='/bin/goapp', address=9000)
    comm = ({'label': 'comm'}, {'label': 'pid'}, {'label': 'stack', 'mode': 'func'},
            {'label': 'kernel stack', 'mode': 'func', 'kernel': True})
    r.map('', 'count', comm)
    r.entry(['python3', 7, [inlined, handler, again, main], [syscall]], 5)
    r.entry(['python3', 7, [handler, handler, namesake, other], []], 11)
    r.entry(['node', 8, [js, main], []], 100)
    r.entry(['node', 9, [], [syscall]], 3)
    r.map('bytes', 'sum', unit='bytes', signed=True)
    r.entry([[go]], 4096)
    r.entry([[main, go]], 4097)
    r.lines.append(json.dumps({'key': [{'frames': [handler], 'end': 'limit reached'}], 'value': [17]}))
    r.map('us', 'avg', unit='microseconds')
    r.entry([[handler, main]], 3, 999)
    r.map('h', 'hist', bits=0, buckets=66)
    r.entry([[js, main]], *([0] * 5 + [2, 3] + [0] * 59))
    return r.write(path)


def show(strata, path, *args):
    done = subprocess.run([strata, 'show', str(path), *map(str, args)], capture_output=True, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors='replace'))
    return done.stdout


class Totals:
    """Self and total of functions; a function that occurs several times in a stack counts once."""

    def __init__(self):
        self.own, self.all = collections.Counter(), collections.Counter()

    def add(self, stack, n):
        """The outermost first."""
        if stack and n:
            self.own[stack[-1]] += n
        for name in set(stack) if n else ():
            self.all[name] += n

    def __eq__(self, other):
        return +self.own == +other.own and +self.all == +other.all

    def functions(self, names):
        """Returns the totals without the frames that are not functions."""
        t = Totals()
        t.own = collections.Counter({k: v for k, v in self.own.items() if k in names})
        t.all = collections.Counter({k: v for k, v in self.all.items() if k in names})
        return t


def of_folded(text):
    totals = Totals()
    for line in text.decode().splitlines():
        stack, n = line.rsplit(' ', 1)
        totals.add([re.sub(r'_\[[kij]\]$', '', f) for f in stack.split(';')], int(n))
    return totals


def of_speedscope(text):
    doc, totals = json.loads(text), Totals()
    names = [f['name'] for f in doc['shared']['frames']]
    for p in doc['profiles']:
        assert p['type'] == 'sampled' and len(p['samples']) == len(p['weights']) and p['endValue'] == sum(p['weights'])
        for stack, n in zip(p['samples'], p['weights']):
            totals.add([names[i] for i in stack], n)
    return totals


def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return n, at


def fields(data):
    """Yields (number, value) of a protobuf message: an integer, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        n, at = varint(data, at)
        if tag & 7 == 2:
            yield tag >> 3, data[at:at + n]
            at += n
        else:
            yield tag >> 3, n


def ints(value):
    """Returns a repeated integer, packed or not."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        n, at = varint(value, at)
        out.append(n)
    return out


class Pprof:
    def __init__(self, data):
        self.types, self.strings, self.samples, self.mappings, self.locations, functions = [], [], [], {}, {}, {}
        for n, v in fields(gzip.decompress(data)):
            if n == 6:
                self.strings.append(v.decode())
            elif n == 1:
                self.types.append(dict(fields(v)))
            elif n == 2:
                self.samples.append([(k, x) for k, x in fields(v)])
            elif n == 3:
                m = dict(fields(v))
                self.mappings[m[1]] = m
            elif n == 4:
                f = list(fields(v))
                lines = [dict(fields(x)) for k, x in f if k == 4]
                self.locations[dict(f)[1]] = {**dict(f), 'lines': lines}
            elif n == 5:
                f = dict(fields(v))
                functions[f[1]] = f
        self.inlined = {i: [self.strings[functions[line[1]][2]] for line in loc['lines']] for i, loc in self.locations.items()}
        self.names = {i: names[0] for i, names in self.inlined.items()}

    def stacks(self):
        """Yields (frames with the innermost first, values, labels)."""
        for s in self.samples:
            ids = [i for k, v in s if k == 1 for i in ints(v)]
            labels = {}
            for k, v in s:
                if k == 3:
                    label = dict(fields(v))
                    labels[self.strings[label[1]]] = self.strings[label[2]] if label.get(2) else label.get(3, 0)
            yield [name for i in ids for name in self.inlined[i]], [n for k, v in s if k == 2 for n in ints(v)], labels


class Otlp:
    """The profiles of a line of OTLP/JSON. Reading checks the protocol's rules (opentelemetry-proto v1.11.0, profiles.proto):
    the first element of each table is empty, no element is there twice or is not used, and indices are in range."""
    TABLES = {'stringTable': '', 'attributeTable': {}, 'functionTable': {}, 'mappingTable': {}, 'locationTable': {},
              'stackTable': {}, 'linkTable': {}}

    def __init__(self, line):
        doc = json.loads(line)
        self.tables, self.used = doc['dictionary'], {name: {0} for name in self.TABLES}
        assert set(self.tables) == set(self.TABLES)
        for name, first in self.TABLES.items():
            texts = [json.dumps(element, sort_keys=True) for element in self.tables[name]]
            assert self.tables[name][0] == first and len(set(texts)) == len(texts), name
        [resource] = doc['resourceProfiles']
        self.resource = {a['key']: a['value']['stringValue'] for a in resource['resource']['attributes']}
        [scope] = resource['scopeProfiles']
        self.profiles = [self.profile(p) for p in scope['profiles']]
        for name, used in self.used.items():
            assert len(used) == len(self.tables[name]), f'elements of {name} are not used'

    def at(self, table, index):
        self.used[table].add(index)
        return self.tables[table][index]

    def attributes(self, indices):
        found = [self.at('attributeTable', i) for i in indices]
        pairs = [(self.at('stringTable', a['keyStrindex']), a['value']) for a in found]
        return {key: int(value['intValue']) if 'intValue' in value else value['stringValue'] for key, value in pairs}

    def location(self, index):
        """Returns the names of a location's functions, the innermost first."""
        place, names = self.at('locationTable', index), []
        mapping = self.at('mappingTable', place.get('mappingIndex', 0))
        self.at('stringTable', mapping.get('filenameStrindex', 0))
        self.attributes(mapping.get('attributeIndices', []) + place.get('attributeIndices', []))
        for line in place['lines']:
            function = self.at('functionTable', line['functionIndex'])
            self.at('stringTable', function.get('systemNameStrindex', 0))
            self.at('stringTable', function.get('filenameStrindex', 0))
            names.append(self.at('stringTable', function['nameStrindex']))
        return names

    def profile(self, p):
        """Returns (type, unit, samples); a sample is (frames with the innermost first, attributes, value)."""
        kind = p['sampleType']
        assert kind == p['periodType'] and p['period'] == '1' and int(p['timeUnixNano']) > 0 <= int(p['durationNano'])
        samples = []
        for s in p['samples']:
            stack = self.at('stackTable', s['stackIndex']).get('locationIndices', [])
            [value] = s['values']
            samples.append(([name for i in stack for name in self.location(i)], self.attributes(s.get('attributeIndices', [])),
                            int(value)))
        return self.at('stringTable', kind['typeStrindex']), self.at('stringTable', kind['unitStrindex']), samples

    def totals(self):
        totals = Totals()
        for _, _, samples in self.profiles:
            for stack, _, value in samples:
                totals.add(stack[::-1], value)
        return totals


def of_pprof(data):
    totals = Totals()
    for stack, values, _ in Pprof(data).stacks():
        totals.add(stack[::-1], sum(values))
    return totals


def of_otlp(data):
    return Otlp(data).totals()


def of_rows(data):
    """Reads -f rows, and checks what the tables demand: a stack comes before its samples, once for each service."""
    totals, stacks = Totals(), {}
    for line in data.decode().splitlines():
        row = json.loads(line)
        if row['table'] == 'stacks':
            key = row['service'], row['stack_id']
            assert key not in stacks and row['last_seen'] > 0
            stacks[key] = row['frames']
        elif 'stack_id' in row:
            totals.add(stacks[row['service'], row['stack_id']][::-1], row['value'])
    return totals


def of_tree(data):
    """Reads a flame graph's rows; merged frames are a frame, too."""
    totals, above = Totals(), []
    for name, _, own, total, depth, *_ in data['rows']:
        text = data['names'][name]
        above[depth:] = [text]
        if text not in above[:depth]:
            totals.all[text] += total
        totals.own[text] += own
    return totals


def of_svg(text):
    root = xml.fromstring(text)
    return of_tree(json.loads(next(e for e in root.iter(SVG + 'script') if e.get('id') == 'data').text))


def scripts(text, cls):
    found = re.findall(rf'<script type="application/json" class="{cls}">(.*?)</script>', text.decode(), re.S)
    return [json.loads(t) for t in found]


def of_html_tables(text):
    totals = Totals()
    for table in scripts(text, 'functions'):
        for name, _, own, total, *_ in table['list']:
            totals.own[name] += own
            totals.all[name] += total
    return totals


def of_html_graphs(text):
    totals = Totals()
    for data in scripts(text, 'data'):
        t = of_tree(data)
        totals.own += t.own
        totals.all += t.all
    return totals


def of_recording(text):
    frames, totals, maps = [], Totals(), None
    for line in text.decode().splitlines():
        o = json.loads(line)
        if o.get('type') == 'frame':
            native = o['kind'] in ('native', 'kernel', 'go')
            frames.append(o.get('function', '?') + ('' if native and o['kind'] != 'go' or 'file' not in o else ' ' + o['file']))
        elif o.get('type') == 'profile':
            maps = o
        elif 'key' in o:
            v = o['value']
            n = v[1] if maps['value']['kind'] in ('avg', 'stats') else sum(v) if maps['value']['kind'] in ('hist', 'lhist') else v[0]
            stacks = [(c.get('kernel', False), p['frames']) for c, p in zip(maps['key'], o['key']) if isinstance(p, dict)]
            order = [i for k in (True, False) for kernel, ids in stacks if kernel == k for i in ids]
            totals.add([frames[i] for i in order[::-1]], n)
    return totals


def of_text(text):
    """Reads maps of counts and sums: stacks as lines, the innermost first."""
    totals, stack = Totals(), []
    for line in text.decode().splitlines():
        if line.startswith('@'):
            stack = []
        m = re.match(r'^(?:, )?\]: (-?\d+)', line)
        if line.startswith('        '):
            name = line.strip()
            if not name.startswith('['):
                stack.append(re.sub(r'(\+\d+|:\d+(-\d+|:\d+)?)$', '', name))
        elif m:
            totals.add(stack[::-1], int(m.group(1)))
    return totals


def drawn(text):
    """Reads the names and values of a picture without a browser."""
    return [html.unescape(t) for t in re.findall(r'<title>(.*?)</title>', text.decode(), re.S)]
