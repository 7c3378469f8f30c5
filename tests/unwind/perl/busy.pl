# SPDX-License-Identifier: Apache-2.0
# busy.pl - does little but call Perl from C and C from Perl, until it is killed. busy.py knows which sub calls which.
use strict;
use warnings;
use List::Util qw(first reduce);

package Number {
    use overload '+' => \&plus, '<=>' => \&compare, '""' => \&text;
    sub new { my ($class, $n) = @_; return bless { n => $n }, $class }
    sub plus { my ($x, $y) = @_; return main::leaf($x->{n}) + $y }
    sub compare { my ($x, $y) = @_; return main::leaf($x->{n}) <=> $y->{n} }
    sub text { my $x = shift; return 'n' . main::leaf($x->{n}) }
    sub DESTROY { my $x = shift; eval { main::leaf($x->{n}) }; return }
}
package Slot {
    sub TIESCALAR { return bless [3], shift }
    sub FETCH { my $slot = shift; return main::leaf($slot->[0]) }
    sub STORE { my ($slot, $n) = @_; $slot->[0] = main::leaf($n); return }
}
package main;

# line 1 "leaf.pl"
sub leaf { my $n = shift; my $sum = 0; $sum += $_ * $n for 1 .. 3; return $sum }
# line 1 "busy.pl"
sub by_leaf { return leaf($a) <=> leaf($b) }
sub sorted { my @sorted = sort { leaf($a) <=> leaf($b) } map { $_ * 7 % 5 } 1 .. 8; return scalar @sorted }
sub sorted_by { my @sorted = sort by_leaf 3, 1, 2, 5; return scalar @sorted }
sub overloaded { my ($x, $y) = map { Number->new($_) } 1, 2; my $sum = $x + 1; my $text = "$y"; return $x <=> $y }
sub tied_slot { tie my $slot, 'Slot'; $slot = 4; my $n = $slot; return $n }
sub listed { my $found = first { leaf($_) > 20 } 1 .. 6; my $sum = reduce { leaf($a) % 9 + $b } 1 .. 5; return $found }
sub evaluated { eval { eval { leaf(2) }; die "fault\n" }; return eval 'leaf(3)' }
sub replaced { my $text = 'abc'; $text =~ s/([ac])/leaf(ord $1)/ge; return $text }
sub work { sorted(); sorted_by(); overloaded(); tied_slot(); listed(); evaluated(); replaced(); return }

$| = 1;
print "ready\n";
work() while 1;
