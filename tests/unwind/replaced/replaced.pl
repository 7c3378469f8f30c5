# SPDX-License-Identifier: Apache-2.0
use Sub::Util 'set_subname';

sub spin { my ($n) = @_; my $s = 0; for my $k (1 .. $n) { $s += $k % 7 } $s }

# Closures with the same statements and names of their own.
sub closure { my ($name, $n) = @_; set_subname($name, sub { my $s = spin($n); $s }) }

<STDIN>;
for my $i (0 .. $ARGV[0] - 1) {
    my $name = sprintf 'f%06d', $i;
    my $way = $i / 32 % 3;
    if ($way == 2) {
        closure($name, 15000)->();
        next;
    }
    my $work = $way ? 'spin($n)' : '0; for my $k (1 .. $n) { $s += $k % 7 }';
    eval "#line 1 \"$name.pl\"\nsub $name { my (\$n) = \@_; my \$s = $work; \$s }";
    &$name(15000);
    undef &$name;
    delete $main::{$name};
}
