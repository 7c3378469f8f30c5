# SPDX-License-Identifier: Apache-2.0
"""mangled.py - spoils generated scripts from a seed: tokens are omitted, doubled, exchanged or from another script,
numbers are at their limits, bytes are not text. A script that the parser still accepts goes through all later rooms."""
import random
import re

import generate
import typed

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_@$][A-Za-z_0-9]*|\d[\da-zA-Z_]*|\s+|->|\.\.|<<|>>|&&|\|\||[=!<>]=|.', re.S)
NUMBERS = ['0', '-1', '0x7fffffffffffffff', '0xffffffffffffffff', '18446744073709551616', '9223372036854775808',
           '-9223372036854775808', '4294967296', '1e19', '99999999999999999999', '0x', '08', '1_', '3us', '1000000']
PIECES = ['{', '}', '(', ')', '[', ']', ';', ',', '.', '..', '->', '=', '==', '+', '++', '-', '*', '/', '%', '&', '|', '~', '!',
          '?', ':', '<<', '>>=', '"', '\\', '#', '//', '/*', '*/', '@', '$', '$1', '$#', '@a', '$a', 'args', 'ctx', 'ustack',
          'kstack', 'comm', 'pid', 'nsecs', 'count()', 'hist(', 'lhist(', 'sizeof(', 'offsetof(', 'typeof(', 'comptime',
          'let', 'if', 'else', 'while', 'for', 'unroll', 'return', 'break', 'continue', 'macro', 'import', 'config', 'struct',
          'struct task_struct', 'curtask', 'begin', 'end', 'int8', 'uint64', 'string[8]', 'true', 'probe', 'str(', 'buf(',
          'print(', 'printf("%s', '%d', '\0', '\x7f', 'é', '\ufeff', '\u201c', '\n', '\t']


def spoil(r, tokens, other):
    at = r.randrange(len(tokens))
    to = min(len(tokens), at + r.choice([1, 1, 2, 5, 30]))
    how = r.randrange(8)
    if how == 0:
        del tokens[at:to]
    elif how == 1:
        tokens[at:at] = tokens[at:to]
    elif how == 2:
        from_ = r.randrange(len(other))
        tokens[at:to] = other[from_:from_ + r.choice([1, 3, 10, 40])]
    elif how == 3:
        numbers = [i for i, t in enumerate(tokens) if t[:1].isdigit()]
        if numbers:
            tokens[r.choice(numbers)] = r.choice(NUMBERS)
    elif how == 4:
        tokens[at] = r.choice(PIECES)
    elif how == 5:
        tokens.insert(at, r.choice(PIECES))
    elif how == 6:
        second = r.randrange(len(tokens))
        tokens[at], tokens[second] = tokens[second], tokens[at]
    else:
        same = [i for i, t in enumerate(tokens) if t[:1].isalpha() or t[:1] in '$@']
        if len(same) > 1:
            tokens[r.choice(same)] = tokens[r.choice(same)]


def script(seed):
    r = random.Random(seed)
    kinds = [generate, typed]
    tokens = TOKEN.findall(r.choice(kinds).script(r.randrange(1 << 30)))
    other = TOKEN.findall(r.choice(kinds).script(r.randrange(1 << 30)))
    for _ in range(r.choice([1, 1, 2, 3, 8])):
        if tokens:
            spoil(r, tokens, other)
    return ''.join(tokens)
