#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""endbr_libraries.py STRATA [perl|php|ruby].. - by hand: functions of real libraries that begin with endbr64, a thousand of each, are probed
while programs use them. bpftrace, whose probes are on the endbr64, counts the same calls at the same time: all counts are
equal, and the programs' output does not change. Nothing else may use these programs meanwhile; bpftrace needs minutes for
each of them."""
import contextlib
import pathlib
import re
import signal
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'lib'), *(str(TESTS / 'unwind' / language) for language in ('perl', 'php', 'ruby'))]
import peer
import perls
import phps
import rubies
from tap import Cases

STRATA = str(pathlib.Path(sys.argv[1]).resolve())
MOST = 1000
PERL = '''
my %h; my $s = 0;
for my $i (1 .. 200) { $h{"k" . $i % 97} .= chr(65 + $i % 26); $s += length(join ",", sort map { $_ * 7 % 13 } 1 .. 9); $s += () = "ab$i" =~ /[0-9]/g; }
local $@; eval { die { n => $s } }; print "$s ", $@->{n}, " ", sprintf("%.3f", sqrt $s), "\\n";
'''
PHP = '''
$s = 0; $h = [];
for ($i = 0; $i < 200; $i++) { $h["k" . $i % 97] = ($h["k" . $i % 97] ?? "") . chr(65 + $i % 26); $s += strlen(implode(",", array_map(fn($x) => $x * 7 % 13, range(1, 9)))); $s += preg_match_all("/[0-9]/", "ab$i"); }
ksort($h); echo $s, " ", md5(serialize($h)), "\\n";
'''
RUBY = '''
h = Hash.new(""); s = 0
200.times { |i| h["k#{i % 97}"] += (65 + i % 26).chr; s += (1..9).map { |x| x * 7 % 13 }.sort.join(",").size; s += "ab#{i}".scan(/[0-9]/).size }
puts s, h.sort.to_a.hash == h.sort.to_a.hash, Marshal.dump(h).size
'''


def loads(wanted):
    """(what, the program, the file with the functions) of the wanted languages."""
    for version in ('5.40', '5.42') if 'perl' in wanted else ():
        command = [str(perls.get(version)), '-e', PERL]
        yield f'Perl {version}', command, perls.CACHE.resolve() / version / 'root/usr/bin/perl'
    for version in ('8.4', '8.4-sid') if 'php' in wanted else ():
        command = [*map(str, phps.command(version, 'plain')), '-r', PHP]
        yield f'PHP {version}', command, next(path for path in (phps.CACHE.resolve() / version).rglob('usr/bin/php8*')
                                              if not path.is_symlink())
    for version in ('3.3', '3.4') if 'ruby' in wanted else ():
        command = [str(rubies.get(version)), '-e', RUBY]
        yield f'Ruby {version}', command, next((rubies.CACHE.resolve() / version).rglob(f'libruby-{version}.so.*.*.*'))


def functions(file):
    """Returns the addresses in the file of global functions that begin with endbr64, each once."""
    text = subprocess.run(['objdump', '-d', '--no-show-raw-insn', str(file)], capture_output=True, text=True).stdout
    starts = {int(at, 16) for at in re.findall(r'^ +([0-9a-f]+):\s+endbr64', text, re.M)}
    table = subprocess.run(['readelf', '-W', '--dyn-syms', str(file)], capture_output=True, text=True).stdout
    named = re.findall(r'^ +\d+: ([0-9a-f]{16}) +\d+ FUNC +GLOBAL +DEFAULT +\d+ ([\w.]+)', table, re.M)
    found = {int(at, 16): name for at, name in named if int(at, 16) in starts}
    return [found[at] for at in sorted(found)][:MOST]


@contextlib.contextmanager
def counting(tracer, file, names):
    script = ', '.join(f'uprobe:{file}:{name}' for name in names) + ' { @[reg("ip")] = count(); }'
    with subprocess.Popen(tracer + ['-e', script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        while (line := child.stderr.readline()) and not re.match('Attached', line):
            pass
        counts = {}
        yield counts
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate()
        counts.update(re.findall(r'^@\[([^\]]+)\]: (\d+)$', output, re.M))
        if child.returncode or not counts:
            print(f'# {tracer[0]}: {errors[:500]}')


def run(command):
    """Two at the same time, twice. All have the same addresses."""
    seen = set()
    for _ in range(2):
        children = [subprocess.Popen(['setarch', '-R', *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
        seen |= {(child.communicate()[0], child.returncode) for child in children}
    return seen


def main():
    cases = Cases()
    with peer.peer() as (bpftrace, _):
        for what, command, file in loads(sys.argv[2:] or ['perl', 'php', 'ruby']):
            names = functions(file)
            alone = run(command)
            with counting(bpftrace, file, names) as theirs, counting([STRATA], file, names) as ours:
                probed = run(command)
            differ = {name: (ours.get(name), theirs.get(name)) for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)}
            calls = sum(map(int, ours.values()))
            cases.check(ours and not differ, f'{what}: {len(names)} functions, {len(ours)} of them called {calls} times: equal', differ)
            cases.check(probed == alone and all(not status for _, status in probed), f'{what}: the output is as before', alone,
                        probed)
    return cases.done()


sys.exit(main())
