#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py STRATA - the prompt in a terminal: keys and the screen. Prints TAP."""
import ctypes
import os
import pathlib
import platform
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
import waits
from absent import all_fail
from terminal import Terminal

STRATA = os.path.realpath(sys.argv[1])
PROMPT = 'strata> '
cases = tap.Cases()


def opened(columns=80, rows=24, **more):
    t = Terminal([STRATA, *more.pop('args', [])], columns, rows, **more)
    if not t.wait(PROMPT.strip(), 20):
        print('# no prompt:', t.history())
    return t


def sees(t, what, *texts, whole=False):
    screen = t.wait(texts, whole=whole)
    cases.check(screen is not None, what, t.history() if screen is None else '')


def lies(t, what, is_right):
    """Waits until is_right(the screen), and reports the case."""
    cases.check(t.until(is_right) is not None, what, t.screen())


def last_tick(screen):
    """Returns the number of the last line "tick N"."""
    return int((re.findall(r'^tick (\d+)$', screen, re.M) or [-1])[-1])


def values():
    with opened() as t:
        for text, value in (('1 + 2', '\n3\n'), ('"a" == "a"', '\ntrue\n'), ('sizeof(uint64)', '\n8\n'),
                            ('comm', '\nstrata\n'), ('(1, "x")', '\n(1, x)\n'), ('if 1 { print("yes") }', '\nyes\n')):
            t.line(text)
            sees(t, f'{text} shows its value', value)
        t.line('@x = 5')
        t.line('@x')
        sees(t, 'a map lives on', '@x: 5')
        t.line('@k[1, "a"] = 2')
        t.line('@k')
        sees(t, 'a map with keys', '@k[1, a]: 2')
        t.line('clear(@k)')
        t.line('len(@k)')
        sees(t, 'is cleared', '\n0\n')
        t.line('$a = 20; $a + 1')
        sees(t, 'statements, and the value of the last', '\n21\n')
        t.keys('C-d')
        sees(t, 'leaving prints the maps', '@x: 5', 'left with 0', 'icanon')


def blocks():
    with opened() as t:
        t.line('begin {')
        t.line('@y = 3;')
        t.line('print("in a block");')
        t.line('}')
        sees(t, 'a block of four lines', '\nin a block\n')
        t.line('@z = 1 +')
        t.keys('Enter')
        sees(t, 'a line that is not whole, and an empty one', '[2]:1:9: error: unexpected end', '@z = 1 +\n')
        t.keys('Up')
        t.type('4')
        t.keys('Enter')
        t.line('@z')
        sees(t, 'is mended from the history', '@z: 5')
        t.line('@z = nope(1)')
        sees(t, 'an error has its place', 'error: unknown function: nope', '^^^^')


def definitions():
    with opened() as t:
        t.line('macro twice(x) { x * 2 }')
        t.line('twice(21)')
        sees(t, 'a macro', '\n42\n')
        t.line('macro twice(x) { x + x + 1 }')
        t.line('twice(21)')
        sees(t, 'is defined anew', '\n43\n')
        t.line('struct pair { int a; int b; };')
        t.line('sizeof(struct pair)')
        sees(t, 'a struct', '\n8\n')
        t.line('let @few = hash(2);')
        t.line('@few[1] = 1; @few[2] = 2; @few[3] = 3;')
        t.line('len(@few)')
        sees(t, 'a declared map', '\n2\n')
        with tempfile.NamedTemporaryFile('w', suffix='.bpf.c', dir=os.path.realpath('.')) as program:
            program.write('int thrice(int x) { return x * 3; }\n')
            program.flush()
            t.line(f'import "{program.name}"')
            t.line('thrice(37)')
            sees(t, 'a function in C', '\n111\n')
            t.line('thrice(74) + twice(1)')
            sees(t, 'is kept', '\n225\n')


def running():
    with opened(100, 30) as t:
        t.line('interval:ms:100 { printf("tick %d\\n", @n); @n++; }')
        sees(t, 'a script runs', '1 probe', 'tick 3')
        t.line('interval:ms:150 { printf("tock\\n"); }')
        sees(t, 'next to another', 'tock')
        t.type('half a li')
        more = last_tick(t.screen()) + 10
        t.until(lambda screen: last_tick(screen) >= more)
        lies(t, 'the line and their output are whole', lambda screen: re.search(
            rf'(^(tick \d+|tock)\n){{5}}{PROMPT}half a li\n*\Z', screen, re.M))
        t.keys('C-c')
        t.line(':running')
        sees(t, ':running lists both', 'interval:ms:100 { printf', 'interval:ms:150 { printf')
        t.line(':drop 1')
        lies(t, ':drop ends one', lambda screen: re.search(r'^(tock\n){4}', screen.rpartition(':drop 1\n')[2], re.M))
        t.line(':drop all')
        t.line(':running')
        sees(t, ':drop ends them', 'nothing runs')
        before = t.history()
        cases.check(waits.stays(lambda: t.history() == before, 0.5), 'nothing is printed any more', t.history())
        t.line('interval:ms:50 { printf("last\\n"); exit(); }')
        sees(t, 'exit() ends its script alone', 'has called exit()')
        t.line('1 + 1')
        sees(t, 'and no other', '\n2\n')


def keys():
    with opened(100, 40) as t:
        for text, found in ((':r', ':running'), ('tracepoint:sched:sched_swi', 'tracepoint:sched:sched_switch'),
                            ('inter', 'interval:'), ('uprobe:/bin/slee', 'uprobe:/bin/sleep:'),
                            ('begin { @ = nse', 'begin { @ = nsecs'),
                            ('tracepoint:sched:sched_switch { print(args.next_co',
                             'tracepoint:sched:sched_switch { print(args.next_comm'),
                            ('begin { print(curtask.mm->total_v', 'begin { print(curtask.mm->total_vm'),
                            ('rawtracepoint:sched_switch { print(args.next->real_par',
                             'rawtracepoint:sched_switch { print(args.next->real_parent')):
            t.type(text)
            t.keys('Tab')
            sees(t, f'TAB after {text}', PROMPT + found)
            t.keys('C-u')
        t.type('tracepoint:sched:sched_')
        t.keys('Tab')
        sees(t, 'TAB lists', 'tracepoint:sched:sched_switch\n', 'tracepoint:sched:sched_wakeup\n')
        t.keys('C-c')
        t.line('@counts[comm] = count()')
        t.type('print(@c')
        t.keys('Tab')
        sees(t, 'TAB has the maps', PROMPT + 'print(@counts[')
        t.keys('C-c')
        t.type('@cou')
        t.keys('Right')
        sees(t, 'the history suggests the rest', PROMPT + '@counts[comm] = count()')
        t.keys('C-c')
        t.line('"äöü € 漢字"')
        sees(t, 'UTF-8', '\näöü € 漢字\n')


def commands():
    with opened(100, 40) as t:
        t.line(':help')
        sees(t, ':help', ':running', ':drop', 'definitions')
        t.line(':help strftime')
        sees(t, ':help of a name', 'strftime(')
        t.line(':help strftim')
        sees(t, '..and of one that is near', 'did you mean strftime?')
        t.line('cpu -d 1')
        sees(t, 'a tool', ' samples  ')
        t.line(':load threads -x')
        sees(t, ':load of a tool', 'unknown option: -x')
        t.line('print(cpu - cpu + 4321)')
        sees(t, '..an expression is none', '\n4321\n')
        t.line(':frob')
        sees(t, 'no such command', 'there is no command :frob')
        t.line(':probes tracepoint:sched:sched_sw*')
        sees(t, ':probes', 'tracepoint:sched:sched_switch')
        t.line('macro one() { 1 }')
        t.line('interval:ms:50 { @saved += one; if (@saved == 3) { print("three"); exit(); } }')
        sees(t, 'a script with a macro', '\nthree\n', 'has called exit')
        t.line('interval:ms:50 { @other += one; if (@other == 3) { print("again"); } }')
        t.line(':save saved.bt')
        sees(t, ':save', 'strata saved.bt runs it')
        t.line(':save saved.bt')
        sees(t, ':save keeps a file that is there', 'it is there already', ':save -f saved.bt writes over it')
        t.line(':save -f saved.bt')
        t.line('print("after the save")')
        sees(t, '..without -f', '\nafter the save\n')
        t.line('begin { @stack[kstack] = count(); }')
        os.mkfifo(pathlib.Path(t.dir.name, 'fifo'))
        for n, text in enumerate((':load fifo', ':save -f fifo', ':flame @stack fifo', ':load /dev/zero')):
            t.line(text)
            t.line(f'print("not stuck {n}")')
            sees(t, f'{text} does not wait', f'\nnot stuck {n}\n')
        t.keys('C-d')
        t.wait('left with')
        text = pathlib.Path(t.dir.name, 'saved.bt').read_text()
        done = subprocess.run([STRATA, '-d', '2', pathlib.Path(t.dir.name, 'saved.bt')], capture_output=True, text=True, timeout=20)
        cases.check(done.returncode == 0 and 'again' in done.stdout and 'three' not in text, 'the saved script runs', text, done)


def planted():
    """If another user has put a file in the place of the history, the prompt does not follow, change or wait for it."""
    victim = tempfile.NamedTemporaryFile()
    os.chmod(victim.name, 0o644)

    def own(path, uid):
        path.write_text('')
        os.chown(path, uid, uid)

    for what, plant, reason in (
            ('a symbolic link', lambda path: path.symlink_to(victim.name), 'it is a symbolic link'),
            ('a second name', lambda path: os.link(victim.name, path), "not this user's own file"),
            ("another user's file", lambda path: own(path, 65534), "not this user's own file"),
            ('a fifo', os.mkfifo, 'it is not a regular file'),
            ('a directory', lambda path: path.mkdir(), 'it is not a regular file')):
        with tempfile.TemporaryDirectory() as home:
            path = pathlib.Path(home, 'strata/history')
            path.parent.mkdir()
            plant(path)
            before = path.lstat()
            with opened(200, 30, env={'XDG_STATE_HOME': home}) as t:
                t.line('1 + 1')
                sees(t, f'{what} as the history', '\n2\n', 'the lines that are typed are not kept', reason, whole=True)
                t.keys('C-d')
                t.wait('left with')
            now = path.lstat()
            cases.check(before.st_mode == now.st_mode and before.st_size == now.st_size
                        and not os.path.getsize(victim.name) and os.stat(victim.name).st_mode & 0o777 == 0o644,
                        f'..{what} is not changed')


def top():
    script = ('profile:hz:99 { @stacks[ustack] = count(); @h = hist(nsecs % 100); @by[cpu] = count(); '
              'if (++@n == 50) { printf("fifty\\n"); } }')
    with opened(100, 30) as t:
        t.line(script)
        t.wait('\nfifty\n')
        t.line(':top @by 0.1')
        sees(t, ':top of numbers', '@by  p: pause', '█')
        t.keys('q')
        t.line(':top @h 0.1')
        sees(t, ':top of a histogram', '@h  p: pause', '@@@@', '[32, 64)')
        t.keys('q')
        t.line(':top @stacks 0.1')
        sees(t, ':top of stacks', '@stacks  up, down', ' %', '█')
        t.keys('Down', 'Space')
        t.resize(60, 20)
        lies(t, 'it follows the size', lambda screen: all(len(line) <= 60 for line in screen.split('\n')))
        t.keys('q')
        sees(t, 'back at the prompt', PROMPT.strip())
        t.line('1 + 4')
        sees(t, 'which works', '\n5\n')
        for name, begin in ('x.svg', b'<?xml'), ('x.html', b'<!DOCTYPE'), ('x.json.gz', b'\x1f\x8b'), ('x.folded', b''):
            path = os.path.join(t.dir.name, name)
            t.line(f':flame @stacks {path}')
            sees(t, f':flame {name}', f'{name}: open it in a browser' if name in ('x.svg', 'x.html') else f'{name} is written')
            cases.check(os.path.getsize(path) > 100 and open(path, 'rb').read(9).startswith(begin), f'{name} is written')
        t.line(':flame @h x.svg')
        sees(t, ':flame of no stacks', '@h has no stacks in its key')


def live():
    script = 'interval:ms:20 { @n++; @by[@n % 3] = count(); @h = hist(@n); }'
    with Terminal([STRATA, '-t', '0.1', '-e', script], 100, 40) as t:
        sees(t, '-t draws all maps', '@by\n', '█', '@h\n', '[8, 16)', '@n\n')
        t.keys('C-c')
        sees(t, '..and prints them at the end', '@by[1]: ', '@n: ', 'left with 0')
    done = subprocess.run(['timeout', '-s', 'INT', '2', STRATA, '-t', '0.3', '-e', script], capture_output=True, text=True)
    cases.check(len(re.findall(r'^@n: \d+\n\n', done.stdout, re.M)) >= 3, '-t on a pipe prints blocks', done)


def live_keys():
    script = ('interval:ms:20 { @n++; @by["zebra"] = count(); if (@n % 2) { @by["mango"] = count(); } '
              'if (@n % 4 == 0) { @by["apple"] = count(); } }')
    with Terminal([STRATA, '-t', '0.1', '-e', script], 100, 20) as t:
        lies(t, 'the largest first', lambda screen: re.search('zebra.*mango.*apple', screen, re.S))
        t.keys('s')
        lies(t, 's: by name', lambda screen: re.search('apple.*mango.*zebra', screen, re.S))
        t.type('/')
        t.type('ANG')
        t.keys('Enter')
        lies(t, '/: only entries with this text', lambda screen: 'mango' in screen and 'zebra' not in screen)
        t.keys('p')
        before = t.wait('(paused)') or ''
        cases.check(before and waits.stays(lambda: t.screen() == before, 0.5), 'p: it stands still', before, t.screen())
        t.keys('w')
        t.type('saved.json')
        t.keys('Enter')
        sees(t, 'w: written', 'saved.json: written')
        saved = pathlib.Path(t.dir.name, 'saved.json').read_text()
        shown = re.search(r'(\d+) .* mango', before)
        cases.check(shown and f'"mango": {shown.group(1)}' in saved and '"zebra"' in saved, 'the file has the values of the screen, and all entries', saved, before)
        t.keys('p', 'q')
        sees(t, 'q: ends, and prints', '@by[zebra]: ', 'left with 0', 'icanon')
    with tempfile.TemporaryDirectory(prefix='a-directory-whose-name-is-longer-than-the-rest-of-a-line-') as dir:
        path = pathlib.Path(dir, 'hot.py')
        path.write_text('def hot():\n    while True:\n        pass\nhot()\n')
        with Terminal([STRATA, 'top', '-c', f'/usr/bin/python3 {path}'], 90, 20) as t:
            sees(t, 'a line without room has the name of the file', 'hot …/hot.py')
            t.keys('q')
    with Terminal([STRATA, 'top', '-c', 'sh -c "while :; do :; done"'], 100, 30) as t:
        sees(t, 'strata top', '@cpu  up, down', ' %')
        t.type('/')
        t.type('nothing-has-this')
        t.keys('Enter')
        lies(t, 'stacks are filtered, too', lambda screen: ' %' not in screen)
        t.type('/')
        t.keys('Enter')
        t.keys('w')
        t.type('saved.svg')
        t.keys('Enter')
        sees(t, 'a flame graph is saved', 'saved.svg: written')
        cases.check('<svg' in pathlib.Path(t.dir.name, 'saved.svg').read_text(), '..and is one')
        t.keys('q')
        sees(t, 'q ends top', '@cpu: ', 'left with 0')


def sizes():
    with opened(200, 50) as t:
        t.type('x' * 250)
        t.until(lambda screen: screen.count('x') == 250)
        t.resize(80, 24)
        lies(t, 'a long line after another size', lambda screen: [line.count('x') for line in screen.split('\n') if 'x' in line] ==
             [80 - len(PROMPT), 80, 80, 250 - 240 + len(PROMPT)])
        t.keys('C-u')
        t.line('6 * 7')
        sees(t, 'a long line, and another size', '\n42\n')
        t.paste(''.join(f'@p[{i}] = {i};\n' for i in range(50)))
        t.keys('Enter')
        t.line('len(@p)')
        sees(t, 'fifty lines pasted', '\n50\n')


def colours():
    with opened() as t:
        cases.check('\033[' in t.screen(colours=True), 'the prompt has a colour', repr(t.screen(colours=True)))
    with opened(env={'NO_COLOR': '1'}) as t:
        cases.check('\033[' not in t.screen(colours=True), 'but not with NO_COLOR', repr(t.screen(colours=True)))


def leaving():
    with opened() as t:
        t.keys('C-c')
        sees(t, 'Ctrl-C asks', 'Ctrl-C once more')
        t.keys('C-c')
        sees(t, '..and leaves', 'left with 0', 'icanon')
    with opened() as t:
        t.line('interval:ms:50 { @n++; if (@n == 3) { printf("three\\n"); } }')
        t.wait('\nthree\n')
        os.kill(t.pid(), signal.SIGTERM)
        sees(t, 'SIGTERM prints the maps', '@n: ', 'left with 0')
    with opened() as t:
        t.line('exit')
        sees(t, 'exit leaves', 'left with 0')
    done = subprocess.run([STRATA], input='begin { print("from stdin"); }', capture_output=True, text=True, timeout=20)
    cases.check(done.stdout.startswith('from stdin\n'), 'a script on standard input', done)
    lines = '1 + 2\n@x = 4\nbegin {\n\tprint(@x);\n}\n:running\n'
    done = subprocess.run([STRATA, '--interactive'], input=lines, capture_output=True, text=True, timeout=20)
    cases.check(re.match(r'\n*3\n+@x: 4\n', done.stdout) and 'nothing runs' in done.stderr,
                '--interactive: a prompt without a terminal', done)


def reads(fd, pattern, seconds=20):
    """Reads from the terminal until the pattern appears. Returns the text, or None."""
    text, end = b'', time.monotonic() + seconds
    while not re.search(pattern, text):
        if time.monotonic() > end:
            return None
        if select.select([fd], [], [], 0.05)[0]:
            text += os.read(fd, 65536)
    return text


def interrupted_lines():
    """Text that is typed right after Ctrl-C is a line of its own, also while a script prints. This case has no tmux, since
    the line comes a few microseconds after the key."""
    state = tempfile.TemporaryDirectory()
    pid, fd = pty.fork()
    if not pid:
        os.execve(STRATA, [STRATA], {**os.environ, 'TERM': 'xterm-256color', 'LC_ALL': 'C.UTF-8', 'XDG_STATE_HOME': state.name})
    reads(fd, b'strata> ')
    os.write(fd, b'interval:ms:1 { printf("tick %d\\n", @n++); }\r')
    reads(fd, b'tick 5')
    answers = 0
    for i in range(1000, 1020):
        os.write(fd, b'@spoiled + ')
        reads(fd, b'tick')
        os.write(fd, b'\x03')
        os.write(fd, b'%d + 1000000\r' % i)
        answers += reads(fd, b'(?<!\\d)%d\r?\n' % (i + 1000000), 5) is not None
    # Text that is read while Ctrl-C comes may be from before it.
    cases.check(answers >= 18, f'lines right after Ctrl-C: {answers} of 20')
    for i in range(40):
        os.write(fd, b'@spoiled + ')
        time.sleep(0.005)  # so that Ctrl-C comes at different places of the prompt's work
        os.write(fd, b'\x03')
        os.write(fd, b'@lines[%d] = 1\r' % i)
    os.write(fd, b'3 * 1000003\r')
    seen = reads(fd, b'(?<!\\d)3000009\r?\n')
    cases.check(seen and seen.count(b'unexpected') <= 2, '..and when Ctrl-C comes while a line ends', seen)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(fd)
    state.cleanup()


def programs():
    """Returns the IDs of all BPF programs of the machine: bpf(BPF_PROG_GET_NEXT_ID) of linux/bpf.h."""
    number = {'x86_64': 321, 'aarch64': 280}[platform.machine()]
    attr, found = (ctypes.c_uint32 * 32)(), set()
    while ctypes.CDLL(None).syscall(number, 11, ctypes.byref(attr), ctypes.sizeof(attr)) == 0:
        found.add(attr[1])
        attr[0] = attr[1]
    return found


def killed():
    """The kernel has no program of a prompt that was killed."""
    before = programs()
    with opened() as t:
        t.line('profile:hz:49 { @ = count(); }')
        t.wait('1 probe')
        its = programs() - before
        os.kill(t.pid(), signal.SIGKILL)
        sees(t, 'kill -9', 'left with 137')
        cases.check(its and waits.comes(lambda: not its & programs(), 10), f'none of its {len(its)} programs is left', its & programs())


# A shell with job control, which continues strata when Enter is typed.
JOBS = ['bash', '-mc', '"$@"; echo "stopped with $?"; stty -a | grep -o -- "-*icanon"; read; fg; exit $?', 'bash', STRATA]


def child_of(pid):
    return int(subprocess.run(['pgrep', '-P', str(pid)], capture_output=True, text=True).stdout.split()[0])


STUBBORN = 'sh -c "trap : TERM INT; while :; do sleep 0.1; done"'


def signals():
    """Signals while a view has the terminal: the terminal's modes are restored, whichever signal ends strata."""
    live = ['-t', '0.1', '-e', 'profile:hz:99 { @a[cpu] = count(); }']
    for names, code in (('QUIT', 131), ('SEGV', 139), ('ABRT', 134), ('FPE', 136), ('TERM', 0), ('HUP', 0), ('XCPU', 0),
                        ('INT INT', 130), ('TERM TERM', 143)):
        first, *second = [getattr(signal, 'SIG' + name) for name in names.split()]
        with Terminal(['sh', '-c', 'ulimit -c 0; exec "$@"', 'sh', STRATA, *live, *['-c', STUBBORN] * len(second)], 80, 24) as t:
            t.wait('q: end', 20)
            pid = t.pid()
            os.kill(pid, first)
            if second: # it comes while strata waits for its command's end
                waits.taken(pid)
                time.sleep(0.15) # within 100 ms it counts as the same signal
                os.kill(pid, second[0])
            screen = t.until(lambda s: 'left with' in s and 'icanon' in s)
            cases.check(screen and '-icanon' not in screen and 'q: end' not in screen, f'SIG{names}: the terminal is given back',
                        t.screen())
            sees(t, f'SIG{names}: the status', f'left with {code}\n')
    with Terminal([*JOBS, *live], 80, 24) as t:
        t.wait('q: end', 20)
        for name in 'USR1', 'USR2', 'XFSZ':
            os.kill(child_of(t.pid()), getattr(signal, 'SIG' + name))
        t.keys('C-z')
        lies(t, 'Ctrl-Z stops, and gives the terminal back', lambda s: 'stopped with 148\nicanon' in s and 'q: end' not in s)
        t.keys('Enter')
        sees(t, 'fg draws again', '@a  p: pause')
        t.keys('q')
        sees(t, 'signals that end nothing: the maps are printed', '@a[0]', 'left with 0')
    with Terminal(JOBS, 80, 24) as t:
        t.wait('strata>', 20)
        t.line('profile:hz:99 { @a[cpu] = count(); }')
        t.wait('1 probe')
        t.line(':top @a')
        t.wait('@a  p: pause')
        os.kill(child_of(t.pid()), signal.SIGQUIT) # it has no effect at a prompt
        os.kill(child_of(t.pid()), signal.SIGTSTP)
        lies(t, ':top stops, and gives the terminal back', lambda s: 'stopped with 148\nicanon' in s and 'q: end' not in s)
        t.keys('Enter')
        sees(t, ':top goes on', '@a  p: pause')
        os.kill(child_of(t.pid()), signal.SIGABRT)
        sees(t, ':top dies, and the terminal is given back', 'left with 134', '\nicanon')


def its_end():
    """-p: the process ends while a line is half typed."""
    sleeper = subprocess.Popen(['sleep', '100'])
    with opened(args=['-p', str(sleeper.pid)]) as t:
        t.line('profile:hz:49 { @ = count(); }')
        t.wait('1 probe')
        t.type('half a')
        sleeper.kill()
        sleeper.wait()
        sees(t, 'the end of the process is reported', f'process {sleeper.pid} has ended', 'left with 0', 'icanon')


if not shutil.which('tmux'):
    sys.exit(all_fail('tmux is not installed'))
if os.geteuid():
    sys.exit(all_fail('needs root'))
ONLY = sys.argv[2:]  # names of cases
for case in (values, blocks, definitions, running, keys, commands, planted, top, live, live_keys, sizes, colours,
             leaving, interrupted_lines, killed, signals, its_end):
    if not ONLY or case.__name__ in ONLY:
        case()
sys.exit(cases.done())
