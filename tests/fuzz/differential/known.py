# SPDX-License-Identifier: Apache-2.0
"""known.py - the deliberate differences of strata from bpftrace 0.27, which the generator omits.

Each is (statements of a begin block, strata's output, bpftrace's output or None, the reason). run checks both outputs."""

KNOWN = [
    ('$a = (int8)5; print(-$a); print(~$a);', '-5 -6', '251 250',
     'bpftrace shows a narrow signed result as an unsigned number; in sums it is negative there, too'),
    ('$a = -7; $b = 2; print($a / $b); print($a % $b);', '-3 -1', '9223372036854775804 1',
     'BPF has no signed division: bpftrace divides negative numbers as unsigned ones, strata their absolute values'),
    ('$a = (int64)-16; print($a >> 2);', '-4', '4611686018427387900',
     'bpftrace shifts negative numbers to the right as unsigned ones; here they keep their sign, as in C'),
    ('@p = (int32*)1000; print(@p++);', '0x3e8', '1000',
     'bpftrace shows what ++ of a pointer in a map gives as a number, of one in a variable as a pointer'),
    ('for ($i : (-2)..(-1)) { $i += 10; print($i); }', '8', None,
     'bpftrace extends a loop\'s variable, which begins with 8 bits, without its sign, and with what was there before'),
    ('@a = avg({ @a = avg(0); 1 }); print((int64)@a);', '0', '1',
     'bpftrace has the element before the argument is made: what the argument adds to it is lost'),
    ('$s = "ab"; print($s == { $s = "cd"; "ab" }); print($s); $s = "ab"; print(($s, { $s = "cd"; 1 }));',
     'true cd (ab, 1)', 'false cd (cd, 1)',
     'a string or tuple on the left is read when the whole is, after a block on the right; numbers are read before it'),
    ('$x = { print(1); 5 } ?: 7; print($x);', '1 5', '1 1 5',
     'bpftrace runs a block on the left of ?: twice if its value is true, in C and here it is evaluated once'),
]
