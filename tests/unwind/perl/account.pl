# SPDX-License-Identifier: Apache-2.0
# account.pl CALLS SEED - makes random stacks; at the end of each calls getpgrp(), and keeps Perl's own account of the
# stack. Prints its version, then after a line on standard input all accounts, a line each: sub, TAB, file:line; TAB..
use strict;
use warnings;
use List::Util ();
use Data::Dumper ();
use PerlIO::scalar ();

my ($calls, $seed) = @ARGV;
my @accounts;
our ($depth, $in_handler);

# Each frame has the line of the caller that is one step newer.
sub account {
    my ($line, $file, @words) = ();
    for (my $i = 0;; $i++) {
        my @frame = caller($i);
        last if !@frame;
        push @words, name(@frame[3, 7]), "$file:$line" if $i;
        ($file, $line) = @frame[1, 2];
    }
    return join("\t", @words, '(main)', "$file:$line");
}

sub name {
    my ($sub, $required) = @_;
    return $sub ne '(eval)' ? $sub : $required ? '(require)' : $sub;
}

sub note { push @accounts, account(); my $group = getpgrp(0); return }

package Shop {
    use overload '+' => \&plus, '""' => sub { main::go(); 'shop' }, '<=>' => 'compare', '@{}' => sub { main::go(); [] };
    sub new { return bless {}, $_[0] }
    sub plus { main::go(); return 1 }
    sub compare { main::go(); return 0 }
    sub method { main::go(); return }
    our $AUTOLOAD;
    sub AUTOLOAD { return if $AUTOLOAD =~ /DESTROY/; main::go(); return }
    sub DESTROY {}
}
package Dies { sub new { return bless [], $_[0] } sub DESTROY { local $@; eval { main::go() }; return } }
package Drops { sub new { return bless [], $_[0] } sub DESTROY { main::go(); return } }
package Tied {
    sub TIESCALAR { return bless [], $_[0] }
    sub FETCH { main::go(); return 1 }
    sub STORE { main::go(); return }
}
package TiedHash { sub TIEHASH { return bless {}, $_[0] } sub FETCH { eval { main::go() }; return 1 } }
package main;

sub by_sub { go() if $b == 1; return $a <=> $b }
sub recurse { my $n = shift; return $n ? recurse($n - 1) : go() }

my @ways = (
    sub { go() },
    sub { plain(1) },
    sub { my @sorted = sort { go() if $a == 1; $a <=> $b } 1, 2; },
    sub { my @sorted = sort by_sub 2, 1; },
    sub { eval { go() }; },
    sub { eval 'go()'; },
    sub { eval { eval { go() }; 1 }; eval { go() } },
    sub { eval sprintf qq{# line %d "templates/page-number-%06d.tt"\ngo(); 1}, map { 1 + int rand 1e6 } 1, 2; },
    sub { my @all = map { go(); $_ } 1; },
    sub { my @all = grep { go() } 1; },
    sub { Shop->new->method },
    sub { Shop->new->missing_method },
    sub { my $x = Shop->new + 1; },
    sub { my $x = '' . Shop->new; },
    sub { my @x = @{Shop->new}; },
    sub { my $x = Drops->new; undef $x; },
    sub { my $x = Dies->new; undef $x; },
    sub { tie my $x, 'Tied'; my $y = $x; },
    sub { tie my $x, 'Tied'; $x = 1; },
    sub { tie my %x, 'TiedHash'; my $y = $x{a}; },
    sub { List::Util::first { go(); 1 } 1, 2; },
    sub { List::Util::reduce { go(); 1 } 1, 2; },
    sub { my $x = 'a'; $x =~ s/a/go(); 'b'/e; },
    sub { 'a' =~ /a(?{ go() })/; },
    sub { return go() if $in_handler; local $SIG{__WARN__} = sub { local $in_handler = 1; go() }; warn 'note'; },
    sub { return go() if $in_handler; local $SIG{__DIE__} = sub { local $in_handler = 1; go() }; eval { die 'fault' }; },
    sub { kill 'USR1', $$; my $x = 1; $x++; },
    sub { my $sub = \&plain; &$sub(1); },
    sub { goto &plain },
    sub { recurse(int rand 5) },
    sub { local @INC = (sub { go(); return }); eval { require Missing::Module }; },
    sub { local @INC = (sub { my $text = "main::go(); 1"; open my $f, '<', \$text; return $f });
          delete $INC{'Some/Module.pm'}; require Some::Module; },
    sub { for my $i (1) { if ($i) { while (1) { go(); last } } } },
    sub { my @all = sort { eval { go() if $a == 1; 1 }; $a <=> $b } 1, 2; },
    sub { my @all = sort { List::Util::sum(map { go(); 1 } 1); 0 } 1, 2; },
    sub { local $Data::Dumper::Sortkeys = sub { go(); [] }; local $Data::Dumper::Useqq = 0; Data::Dumper::Dumper({ a => 1 }); },
);

# Syntax of 5.36. Perl crashes if a defer block calls deeply, so these are the last.
sub last_one { local $depth = 1; go(); return }
push @ways, eval q{
    use feature 'defer', 'try'; no warnings;
    sub { defer { last_one() } return 1 },
    sub { defer { my $x = 1; last_one(); $x++ } my $y = 2; plain(1) if !$y; },
    sub { defer { eval { last_one() }; 1 } },
    sub { defer { my @sorted = sort { last_one() if $a == 1; $a <=> $b } 1, 2; } },
    sub { for my $i (1) { defer { last_one() } } return },
    sub { try { go() } catch ($e) { } return },
    sub { eval { try { my $x = 1; plain(1) } catch ($e) { } 1 } },
    sub { try { my $x = 1 } catch ($e) { } finally { last_one() } return },
} or die $@ if $] >= 5.036;

sub plain {
    my $n = shift;
    go();
    return;
}

# Makes room for contexts in all stackinfos: Perl crashes if it has to move contexts while a defer block runs.
sub make_room {
    no warnings 'recursion';
    my ($contexts, $infos) = @_;
    return make_room($contexts - 1, $infos) if $contexts;
    my @sorted = sort { make_room(300, $infos - 1) if $a == 1; $a <=> $b } 1, 2 if $infos;
    return;
}

my $budget;
sub go {
    return if $budget < 0;          # some ways come here twice
    if (local $depth = $depth - 1) {
        my $way = $ways[rand @ways];
        $way->();
        return;
    }
    $budget = -1;
    note();
}

$SIG{USR1} = sub { go() };
make_room(300, 40);
srand $seed;
$| = 1;
printf "%vd\n", $^V;
<STDIN>;
while (@accounts < $calls) {
    $depth = 2 + int rand 30;
    $budget = 1;
    go();
}
print "$_\n" for @accounts;
