# SPDX-License-Identifier: Apache-2.0
"""interpreters.py - programs of Perl, Lua, LuaJIT, Erlang and PHP whose samples are cold: 42 functions that call each
other, the last of which reads more memory than the caches hold. And the rows of these samples."""
import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'unwind' / language) for language in ('perl', 'lua', 'beam', 'php')]
import beams
import cold
import luas
import perls
import phps

LIMIT = 25e3  # ns
PERL = '''
sub busy {
    my @table = map { [$_] } 0 .. 99999;
    my $at = 1;
    while (1) {
        $at = ($at * 69069 + 12345) % 100000;
        $table[$at][0] += 1;
    }
}
'''
LUA = '''
function busy()
    local table, at = {}, 1
    for i = 0, 99999 do table[i] = {i} end
    while true do
        at = (at * 69069 + 12345) % 100000
        table[at][1] = table[at][1] + 1
    end
end
'''
ERLANG = '''-module(cold).
-export([main/1]).
busy() -> busy(list_to_tuple([{N} || N <- lists:seq(1, 100000)]), 1, 0).
busy(Table, At, Sum) ->
    Next = (At * 69069 + 12345) rem 100000,
    {N} = element(Next + 1, Table),
    busy(Table, Next, (Sum + N) rem 1000).
'''
PHP = '''
function busy() {
    $table = array_map(fn($i) => [$i], range(0, 99999));
    $at = 1;
    while (true) {
        $at = ($at * 69069 + 12345) % 100000;
        $table[$at][0] += 1;
    }
}
'''
LAST = cold.DEPTH + 9


def calls(text, function):
    """function: the definition of a function %s that calls the function %s."""
    return cold.chain(text, lambda i: function % (f'f{i}', f'f{i - 1}' if i else 'busy') + '\n')


def perl_program():
    return [str(perls.get('5.40')), '-e', calls(PERL, 'sub %s { %s(); return 1; }') + f'f{LAST}();']


def lua_program(name):
    return [str(luas.get(name)), '-e', calls(LUA, 'function %s() %s() end') + f'f{LAST}()']


def php_program():
    return [*phps.command('8.4', 'plain'), '-r', calls(PHP, 'function %s() { %s(); }') + f'f{LAST}();']


def erlang_program(work):
    """work: a directory below /tmp, which the compiler and the program see."""
    source = pathlib.Path(work) / 'cold.erl'
    source.write_text(calls(ERLANG, '%s() -> %s(), ok.') + f'main(_) -> f{LAST}(), ok.\n')
    beams.compile_module('bookworm', source, work)
    return list(map(str, beams.command('bookworm', work, 'cold', 0)))


PROGRAMS = {
    'perl': lambda work: perl_program(),
    'lua': lambda work: lua_program('bookworm-lua5.4'),
    'luajit': lambda work: lua_program('bookworm-luajit'),
    'erlang': erlang_program,
    'php': lambda work: php_program(),
}
NAMES = {'perl': 'Perl', 'lua': 'Lua', 'luajit': 'LuaJIT', 'erlang': 'Erlang', 'php': 'PHP'}


def rows(row, strata):
    for language, program in PROGRAMS.items():
        with tempfile.TemporaryDirectory(dir='/tmp') as work:
            [(median, worst)] = cold.draws(program(work), lambda pids: cold.sample_ns(strata, pids))
        row(f'a cold sample of {cold.DEPTH + 12} {NAMES[language]} frames, of {LIMIT / 1e3:.0f} us', median / LIMIT, 1.0,
            f'{median / 1e3:.1f} us, worst {worst / 1e3:.1f}')
