#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outside.py STRATA - names that others choose, of a program, a library, functions, a thread and a probe, in keys, labels and
messages. They contain ESC, newline, ';', '<' and bytes that are not UTF-8. A terminal does not obey them in any format,
and each format remains well-formed. Prints TAP."""
import html.parser
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / 'lib'), str(HERE.parent / 'show')]
import recordings
import tap

STRATA = os.path.realpath(sys.argv[1])
BAD = b'\x1b[7m\n\x07;<b>&"\xff\xc2\x9b]]>' # U+009B is a control character as well
SHOWN = '\\x1b[7m\\x0a\\x07;<b>&"\\xff\\xc2\\x9b]]>'
PROGRAM, LIBRARY, THREAD = b'prg' + BAD, b'lib' + BAD + b'.so', b'\x1b[7mt\n;<\xff'


def build(home):
    """Builds the program and the library. Only .symtab has their hidden functions, so these can have any name."""
    for source, path in (([], PROGRAM), (['-DLIBRARY', '-shared', '-fPIC'], LIBRARY)):
        subprocess.run(['cc', '-O1', '-g0', '-fno-omit-frame-pointer', *source, '-o', home / 'made', HERE / 'outside.c', '-ldl'],
                       check=True)
        text = (home / 'made').read_bytes()
        for kind in b'library', b'program':
            old = kind + b'_placeholder_0123456789'
            text = text.replace(old, (kind[:3] + b'f' + BAD).ljust(len(old), b'_'))
        (home / 'made').write_bytes(text)
        os.rename(bytes(home / 'made'), os.path.join(bytes(home), path))


class Running:
    def __init__(self, home):
        paths = [os.path.join(bytes(home), name) for name in (PROGRAM, LIBRARY)]
        self.process = subprocess.Popen([*paths, THREAD], stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def __enter__(self):
        return self.process.pid

    def __exit__(self, *args):
        self.process.kill()
        self.process.communicate()


def piped(*args):
    done = subprocess.run([STRATA, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.stdout, done.stderr


def on_terminal(*args):
    """Returns the output on a terminal from both streams, without the terminal's own line ends."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([STRATA, *args], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                               env={**os.environ, 'NO_COLOR': '1'})
    os.close(follower)
    text = b''
    while True:
        try:
            text += os.read(leader, 65536)
        except OSError: # the other side is closed
            break
    process.wait(60)
    os.close(leader)
    return text.replace(b'\r\n', b'\n').replace(b'\r\x1b[K', b'')


def obeyed(text):
    """Returns the control characters that a terminal would obey, and bytes that are not UTF-8."""
    try:
        return sorted({c for c in text.decode() if (c < ' ' and c != '\n') or '\x7f' <= c < '\xa0'})
    except UnicodeDecodeError as e:
        return [str(e)]


# A script that prints names: each name is one line in every output.
STACKS = 'uprobe:%s/*:*f* { @s[ustack, probe, comm] = count(); @n++; if (@n == 20) { exit() } }'
KEYS = '''uprobe:%s/prg*:pro* { @p[probe, func] = count(); @c[comm, usym(reg("ip"))] = count();
    printf("%%s|%%s|%%s\\n", probe, func, ustack(1)); print((func, 1)); @n++; if (@n == 5) { exit() } }'''


def formats(cases, home, pid):
    """A stack, a probe and a thread's name in all formats."""
    def run(name):
        return piped('-q', '-f', name, '-p', str(pid), '-e', STACKS % home)[0]

    def of_folded(text):
        return [line.rpartition(' ')[0] for line in text.decode().splitlines()]

    def of_html(text):
        parser = html.parser.HTMLParser()
        parser.feed(text.decode())
        parser.close()
        return [row[0] for table in recordings.scripts(text, 'functions') for row in table['list']]

    readers = {
        'folded': of_folded,
        'svg': lambda text: [e.text for e in xml.etree.ElementTree.fromstring(text).iter() if e.text],
        'html': of_html,
        'speedscope': lambda text: [f['name'] for f in json.loads(text)['shared']['frames']],
        'pprof': lambda text: list(recordings.of_pprof(text).all),
        'recording': lambda text: [json.dumps(json.loads(line), ensure_ascii=False).replace('\\\\', '\\').replace('\\"', '"')
                                   for line in text.splitlines()],
        'json': lambda text: [json.dumps(json.loads(line), ensure_ascii=False).replace('\\\\', '\\').replace('\\"', '"')
                              for line in text.splitlines()],
    }
    for name, read in readers.items():
        text = run(name)
        try:
            seen = read(text)
        except Exception as e: # the status of the reader does not matter
            cases.check(False, f'{name} is well-formed', repr(e), text[:2000])
            continue
        wanted = SHOWN.replace(';', ':') if name == 'folded' else SHOWN
        cases.check(name == 'pprof' or not obeyed(text), f'{name}: nothing to be obeyed', obeyed(text))
        for what in ('prof' + wanted, 'libf' + wanted):
            cases.check(any(what in word for word in seen), f'{name}: has {what}', *seen[:20])
        if name in ('folded', 'svg', 'speedscope'):
            cases.check(any('/prg' + wanted + ':prof' + wanted in word for word in seen), f'{name}: the probe is there', *seen)
        if name == 'folded':
            cases.check(all(line.rpartition(' ')[2].isdigit() and not line.startswith('@') for line in
                            text.decode().splitlines()), 'folded: each line ends with its number', text)


def names(cases, home, pid):
    """Probes, functions and addresses, on a pipe, on a terminal, and as JSON. Names are escaped everywhere; the thread's name
    is text, which is escaped only on a terminal."""
    script = KEYS % home
    text, said = piped('-q', '-e', script)
    cases.check(text.count(('prof' + SHOWN).encode()) >= 12 and not obeyed(text.replace(THREAD, b'')) and THREAD in text,
                'names in a pipe', text, said)
    text = on_terminal('-e', script)
    cases.check(text.count(('prof' + SHOWN).encode()) >= 12 and not obeyed(text) and b'\\x1b[7mt\n;<\\xff' in text,
                'names on a terminal', text)
    text, said = piped('-q', '-f', 'json', '-e', script)
    lines = [json.loads(line) for line in text.splitlines()]
    cases.check(len(lines) >= 13 and not obeyed(text) and any('prof' + SHOWN in str(line['data']).replace('\\\\', '\\')
                                                              for line in lines), 'names as JSON', text, said)
    text = on_terminal('-t', '0.2', '-d', '1', '-p', str(pid), '-e',
                       'profile:hz:99 { @[comm] = count(); @h[comm] = hist(1); }')
    cases.check(b'\\x1b[7mt\\x0a;<\\xff' in text and b'\x1b[7mt' not in text, 'names in the view of -t', text[-3000:])


def lists(cases, home, pid):
    """Messages about matching probes, about files that cannot be probed, and about a process."""
    program = os.path.join(bytes(home), PROGRAM)
    for what, args in {
            '-l': ['-l', f'uprobe:{home}/*:*f*'],
            '-lv': ['-lv', f'uprobe:{home}/*:*f*'],
            '-l of a script': ['-l', '-e', f'uprobe:{home}/*:*f* {{ }}'],
            '-d': ['-d', 'image', '-e', f'uprobe:{home}/*:*f* {{ }}'],
            'completion': ['--complete=-l', '--', f'uprobe:{home}/'],
            'a function that is missing': ['-e', 'uprobe:$1:missing { }', program],
            'a file that is missing': [b'/tmp/' + BAD],
            'an option': ['-f', BAD],
            'dump': ['dump', '-p', str(pid)],
            '--unwind': ['--unwind', str(pid)],
    }.items():
        out, err = piped(*args)
        screen = on_terminal(*args)
        for where, text in {'a pipe': out, 'stderr': err, 'a terminal': screen}.items():
            cases.check(not obeyed(text.replace(b'\t', b' ')), f'{what}: no control characters on {where}', obeyed(text), text[:1500])
        cases.check(b'\\x1b[7m' in screen and b'\\xff' in screen, f'{what}: the name is there', screen)


def texts(cases, home, pid):
    """Text that a script prints from memory is bytes; the only control characters on a terminal are newlines and tabs."""
    script = 'tracepoint:syscalls:sys_enter_chdir /pid == cpid/ { printf("<%s>", str(args.filename)); @[str(args.filename)] = 1; }'
    line = f"{sys.executable} -c \"import os; os.path.exists(b'x'); os.chdir(bytes.fromhex('{BAD.hex()}'))\""
    text, said = piped('-q', '-e', script, '-c', line)
    cases.check(b'<' + BAD + b'>' in text and b'@[' + BAD + b']' in text, 'text from memory to a pipe', text, said)
    text = on_terminal('-q', '-e', script, '-c', line)
    shown = b'<\\x1b[7m\n\\x07;<b>&"\\xff\\xc2\\x9b]]>>'
    cases.check(shown in text and b'\x1b[7m' not in text, 'text from memory to a terminal', text)
    text, said = piped('-q', '-f', 'json', '-e', script, '-c', line)
    data = [json.loads(line)['data'] for line in text.splitlines()]
    wanted = BAD[:BAD.index(b'\xff')].decode() + '\\xff\\xc2\\x9b]]>'
    cases.check(data == [f'<{wanted}>', {'@': {wanted: 1}}], 'text from memory as JSON', data, said)


def main():
    cases = tap.Cases()
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        build(home)
        with Running(home) as pid:
            for part in formats, names, lists, texts:
                if not sys.argv[2:] or part.__name__ in sys.argv[2:]:
                    part(cases, home, pid)
    return cases.done()


sys.exit(main())
