# SPDX-License-Identifier: Apache-2.0
use strict;
use warnings;

sub words {
	my ($text) = @_;
	my %seen;
	$seen{lc $_}++ for $text =~ /(\w+)/g;
	return sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
}

my $end = time + $ARGV[0];
my $text = join ' ', map { "word$_ and another" } 1 .. 2000;
words($text) while time < $end;
