#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""contained.py STRATA - a gem, a Perl module, chunks of Lua and a BEAM module that exist only in a container (a mount namespace with
its own root, or a root alone) have names, files and lines after the program has ended, whether strata was attached to it or it began
later. Files of the same names outside, with other functions, are not read. Prints TAP."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'lib'), *(str(TESTS / 'unwind' / name) for name in ('ruby', 'perl', 'lua', 'beam'))]
import absent
import beams
import luas
import perls
import rubies
import traced
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
CALLS = 200
GONE = '/nonexistent/strata'

RUBY = {'gems/shop-1.0/lib/shop.rb': f'''module Shop
  def self.price
    File.delete('{GONE}')
  rescue SystemCallError
  end
end
''', 'main.rb': f'''require 'shop'
def order
  Shop.price
end
$stdout.sync = true
puts 'ready'
gets
{CALLS}.times {{ order }}
gets
'''}
PERL = {'lib/Shop/Price.pm': f'''package Shop::Price;
sub price {{
    rmdir '{GONE}';
}}
1;
''', 'main.pl': f'''use Shop::Price;
sub order {{
    Shop::Price::price();
    return;
}}
$| = 1;
print "ready\\n";
<STDIN>;
order() for 1 .. {CALLS};
<STDIN>;
'''}
LUA = {'lib/shop.lua': f'''local M = {{}}
function M.price()
    os.remove('{GONE}')
end
return M
''', 'main.lua': f'''package.path = './lib/?.lua'
local shop = require('shop')
local function order()
    shop.price()
end
print('ready')
io.stdout:flush()
io.read()
for i = 1, {CALLS} do order() end
io.read()
'''}
BEAM = {'shop.erl': f'''-module(shop).
-export([main/0]).
main() ->
    io:format("ready~n"),
    _ = {{io:get_line(""), ok}},
    _ = [order() || _ <- lists:seq(1, {CALLS})],
    io:get_line(""),
    halt(0).
order() ->
    _ = {{price(), ok}}.
price() ->
    {{Time, _}} = erlang:statistics(runtime),
    Time.
'''}
UNLINK, RMDIR, USAGE = 'sys_enter_unlink*', 'sys_enter_rmdir', 'sys_enter_getrusage'
# Language: the version, which gets it, files, the builtin, the program's name, arguments in DIR, the call, the first frames.
CASES = {
    'Ruby': ('3.3', rubies.get, RUBY, 'rubystack', 'ruby3.3', ['-I', 'DIR/gems/shop-1.0/lib', 'DIR/main.rb'], UNLINK,
             r'File\.delete\n\s*Shop\.price DIR/gems/shop-1\.0/lib/shop\.rb:3\n\s*(?:Object#)?order DIR/main\.rb:3\n'),
    'Perl': ('5.36', perls.get, PERL, 'perlstack', 'perl', ['-I', 'DIR/lib', 'DIR/main.pl'], RMDIR,
             r'Shop::Price::price DIR/lib/Shop/Price\.pm:3\n\s*main::order DIR/main\.pl:3\n\s*\(main\) DIR/main\.pl:9\n'),
    'Lua': ('bookworm-lua5.4', luas.get, LUA, 'luastack', 'lua5.4', ['main.lua'], UNLINK,
            r'os\.remove\n\s*M\.price \./lib/shop\.lua:3\n\s*order main\.lua:4\n\s*main chunk main\.lua:9\n'),
    'LuaJIT': ('bookworm-luajit', luas.get, LUA, 'luastack', 'luajit', ['-joff', 'main.lua'], UNLINK,
               r'os\.remove\n\s*M\.price \./lib/shop\.lua:3\n\s*order main\.lua:4\n\s*main chunk main\.lua:9\n'),
    'Erlang': ('bookworm', beams.get, BEAM, 'beamstack', '1_scheduler', ['+S', '1', '-noshell', '-pa', 'DIR', '-run', 'shop', 'main'],
               USAGE, r'shop:price/0 \S*shop\.erl:12\n\s*shop:order/0 \S*shop\.erl:10\n\s*shop:.*shop\.erl:6\n'),
}
DECOY = {'.rb': 'def wrong\n' * 9, '.pl': 'sub wrong\n' * 9, '.pm': 'sub wrong\n' * 9, '.lua': 'function wrong()\n' * 9}


def write(top, files):
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


class Container:
    """A directory that exists only in the root of a language's program, which runs there."""

    def __init__(self, name, get, files, arguments):
        program = get(name)
        self.path = f'/srv/strata-{os.getpid()}'
        self.top = program.parent / 'root' / self.path[1:]
        shutil.rmtree(self.top, ignore_errors=True)
        write(self.top, files)
        self.outside = tempfile.TemporaryDirectory(dir='/tmp')
        write(pathlib.Path(self.outside.name), {file: DECOY.get(pathlib.Path(file).suffix, '') for file in files})
        for file in files:
            if file.endswith('.erl'):
                self.compile(name, file)
        arguments = [word.replace('DIR', self.path) for word in arguments]
        enter = program.read_text().replace('"$PWD"', f'"{self.path}"')
        self.command = [*self.script('enter', enter), *arguments]
        # The same without a mount namespace: the paths in /proc begin at the root of the machine.
        enter, n = re.subn(r'unshare --mount .*?(?=sh -c)', '', re.sub(r'(for d in ).*;', r'\1;', enter))
        assert n == 1 and self.path in enter
        self.chroot = [*self.script('chroot', enter), *arguments]

    def script(self, name, text):
        path = pathlib.Path(self.outside.name) / name
        path.write_text(text)
        path.chmod(0o755)
        return ['env', 'LC_ALL=C', path]

    def compile(self, name, file):
        """The compiler's directory is below /tmp, which exists in both roots."""
        source = pathlib.Path(self.outside.name) / file
        source.write_text((self.top / file).read_text())
        beams.compile_module(name, source, self.outside.name)
        shutil.copy(source.with_suffix('.beam'), self.top)
        source.unlink()
        source.with_suffix('.beam').unlink()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)
        self.outside.cleanup()


def trace(predicate, call, builtin, **where):
    script = (f'tracepoint:syscalls:{call} /{predicate}/ {{ @[{builtin}] = count(); if (++@n == {CALLS}) {{ printf("all\\n"); }} }} '
              'interval:s:60 { exit(); }')
    tracer = subprocess.Popen([STRATA, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **where)
    traced.attached(tracer)
    return tracer


def finish(process, tracer):
    """Lets the program make its calls, and end after strata has seen them. Returns what strata prints after that."""
    process.stdin.write(b'go\n')
    process.stdin.flush()
    for line in tracer.stdout:
        if line == b'all\n':
            break
    process.communicate()
    tracer.send_signal(signal.SIGINT)
    printed, said = tracer.communicate(timeout=60)
    return printed.decode(), said.decode()


def attached(command, call, builtin):
    process = traced.start(*command)
    process.stdout.readline()
    return finish(process, trace(f'pid == {process.pid}', call, builtin))


def later(container, call, builtin, comm):
    """The program begins while strata runs, in a directory with files of the same names. Another one runs already, so strata has
    loaded the language."""
    idle = traced.start(*container.command)
    idle.stdout.readline()
    tracer = trace(f'comm == "{comm}"', call, builtin, cwd=container.outside.name)
    process = traced.start(*container.command)
    process.stdout.readline()
    ret = finish(process, tracer)
    idle.kill()
    idle.communicate()
    return ret


def count(printed, pattern):
    """Returns the number of stacks that begin with these frames."""
    return sum(int(n) for n in re.findall(rf'^@\[\n\s*{pattern}(?:[^@]*\n)?\]: (\d+)$', printed, re.M))


def look(cases, language, name, get, files, builtin, comm, arguments, call, pattern):
    with Container(name, get, files, arguments) as container:
        wanted = pattern.replace('DIR', re.escape(container.path))
        runs = {'attached': lambda: attached(container.command, call, builtin),
                'begins later': lambda: later(container, call, builtin, comm)}
        if language != 'Erlang':  # it needs /dev, and its names are not in files
            runs['in a chroot'] = lambda: attached(container.chroot, call, builtin)
        for title, run in runs.items():
            printed, said = run()
            found = count(printed, wanted)
            cases.check(found >= CALLS and 'wrong' not in printed, f'{language}: {title}: {found} stacks with names and lines',
                        printed, said)


def main():
    cases = Cases()
    for language, (name, get, *rest) in CASES.items():
        try:
            get(name)
        except absent.Missing as e:
            cases.count += 1
            cases.failed += absent.tap_fails(cases.count, language, e)
            continue
        look(cases, language, name, get, *rest)
    return cases.done()


sys.exit(absent.as_root(main))
