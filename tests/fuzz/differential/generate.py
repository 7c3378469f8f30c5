# SPDX-License-Identifier: Apache-2.0
"""generate.py - makes a program of a begin block from a seed: program(seed) is always the same text.

Names of macros and maps contain the seed, so that programs can be joined in one script. A program prints its
results. The generator knows the types of integers in bpftrace 0.27, since it omits the known differences: see
known.py."""
import collections
import random
import re

Int = collections.namedtuple('Int', 'sign bits weak')  # weak: from literals that are not negative
Str = collections.namedtuple('Str', 'most')            # bytes
Bool = collections.namedtuple('Bool', '')
Tuple = collections.namedtuple('Tuple', 'members names')
Pointer = collections.namedtuple('Pointer', 'to')
Array = collections.namedtuple('Array', 'of n')
Map = collections.namedtuple('Map', 'name key value known')

INTS = [Int(sign, bits, False) for bits in (8, 16, 32, 64) for sign in ('u', 's')]
INT64, UINT64 = INTS[7], INTS[6]
BOOL = Bool()
ARRAYS = [Array(INTS[0], 4), Array(INTS[2], 2), Array(INTS[4], 2), Array(INTS[0], 8)]
WORDS = ['', 'a', 'b', 'ab', 'abc', 'hello', 'x y', 'same', 'Same', 'longer than that']
COMPARE = ['==', '!=', '<', '>', '<=', '>=']
KEYS = {'int': ['0', '1', '2', '7', '300'], 'str': ['"a"', '"b"', '"hello"']}


def name_of(t):
    if isinstance(t, Int):
        return f'{"u" if t.sign == "u" else ""}int{t.bits}'
    if isinstance(t, Pointer):
        return f'{name_of(t.to)}*'
    raise TypeError(t)


def literal_type(v):
    bits = next(b for b in (8, 16, 32, 64) if -2 ** (b - 1) <= v < 2 ** (b - 1))
    return Int('s', bits, v >= 0)


def arithmetic(op, a, b):
    """Returns the type of `a op b`."""
    if isinstance(a, Bool):
        a = Int('u', 8, False)
    if isinstance(b, Bool):
        b = Int('u', 8, False)
    signed = any(t.sign == 's' and not t.weak for t in (a, b)) or a.weak and b.weak or op == '-'
    return INT64 if signed else UINT64


def bracketed(text):
    """Returns the text in parentheses; bpftrace takes (true) for a cast."""
    return text if text in ('true', 'false') else f'({text})'


def is_constant(text):
    return not re.search('[a-z$@]', text)


class Values:
    """Expressions. Each method gives a text, or (text, type)."""

    def one(self, *choices):
        return self.r.choice(choices)

    def chance(self, percent):
        return self.r.randrange(100) < percent

    def visible(self, wanted):
        return [(name, t) for scope in self.scopes for name, t in scope if wanted(t)]

    def readable(self, wanted):
        """Returns the expressions of a type: variables, members of tuples, elements of maps."""
        found = []

        def add(text, t, depth=0):
            if wanted(t):
                found.append((text, t))
            if isinstance(t, Tuple) and depth < 3:
                for i, member in enumerate(t.members):
                    add(f'{text}.{t.names[i] if t.names else i}', member, depth + 1)

        for name, t in self.visible(lambda t: True):
            add(name, t)
        for m in self.maps:
            if m.key is None or m.known:
                add(self.element(m), m.value)
        return found

    # ---- integers ---------------------------------------------------------------

    def number(self):
        v = self.one(0, 1, 2, 3, 5, 7, 10, 100, 127, 128, 200, 255, 256, 300, 32767, 65535, 65536, 100000,
                     2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 10 ** 12, 2 ** 62, -1, -2, -5, -128, -129, -1000, -70000)
        return (str(v) if v >= 0 else f'({v})'), literal_type(v)

    def cast(self, depth):
        t = self.one(*INTS)
        if self.chance(50):
            ends = [2 ** t.bits - 1, 2 ** (t.bits - 1), 5] if t.sign == 'u' else [2 ** (t.bits - 1) - 1, -5, 77]
            return f'({name_of(t)}){self.one(*ends)}', t
        return f'({name_of(t)})({self.int(depth + 1)[0]})', t

    def wide(self, depth):
        """A number of 64 bits."""
        t = self.one(INT64, UINT64)
        return f'({name_of(t)})({self.int(depth + 1)[0]})', t

    def unary(self, depth):
        text, t = self.int(depth + 1)
        if isinstance(t, Bool):
            return f'({text})', t
        if t.sign == 's' and (t.bits < 64 or t.weak):
            text, t = f'(int64)({text})', INT64
        return f'{self.one("-", "~")}({text})', INT64 if t.sign == 's' else UINT64

    def binary(self, depth):
        op = self.one('+', '-', '*', '+', '-', '*', '&', '|', '^', '/', '%', '<<', '>>')
        (a, ta), (b, tb) = self.int(depth + 1), self.int(depth + 1)
        if is_constant(a) and is_constant(b): # strata refuses a result beyond 64 bits
            a, ta = f'(int64)({a})', INT64
        if op in '/%':
            unsigned = self.one(*INTS[0::2])
            a, b, ta, tb = f'({name_of(unsigned)})({a})', f'({name_of(unsigned)})({b})', unsigned, unsigned
        elif op in ('<<', '>>'):
            b, tb = f'(({b}) & {self.one(1, 7, 15, 31, 63)})', arithmetic('&', tb, literal_type(1))
            if op == '>>':
                a, ta = f'(uint64)({a})', UINT64
        return f'({a} {op} {b})', arithmetic(op, ta, tb)

    def compound_int(self, depth):
        """Integers through other values."""
        kind = self.r.randrange(9)
        if kind == 0:
            return f'(int64)strlen({self.str(depth + 1)})', INT64
        if kind == 1:
            return f'({self.bool(depth + 1)} ? (int64)({self.int(depth + 1)[0]}) : (int64)({self.int(depth + 1)[0]}))', INT64
        if kind == 2:
            return self.indexed(depth)
        if kind == 3:
            return self.block_value(depth, lambda: self.wide(depth + 1))
        if kind == 4:
            return self.called(depth)
        if kind == 5:
            return self.pointed(depth)
        if kind == 6:
            t = self.one(*INTS)
            return f'(int64)sizeof(({name_of(t)})({self.int(depth + 1)[0]}))', INT64
        if kind == 7 and self.chance(50):
            return f'(int64)strncmp({self.str(depth + 1)}, {self.str(depth + 1)}, {self.one(1, 2, 4)}) == 0 ? 1 : 2', None
        return f'(uint64)({self.without_blocks(depth + 1)} ?: {self.int(depth + 1)[0]})', UINT64

    def without_blocks(self, depth):
        """An integer without a block, and without a macro, which is one: see known.py."""
        text = self.int(depth)[0]
        return '1' if '{' in text or any(name in text for name, _ in self.macros) else text

    def indexed(self, depth):
        of, n = self.one((INTS[0], 4), (INTS[0], 8), (INTS[2], 2), (INTS[2], 4), (INTS[4], 2))
        found = self.readable(lambda t: isinstance(t, Array))
        if found and self.chance(60):
            name, t = self.one(*found)
            index = self.r.randrange(t.n) if self.chance(50) else f'((uint8)({self.int(depth + 1)[0]}) % {t.n})'
            return f'{name}[{index}]', t.of
        whole = self.one(*[t for t in INTS if t.bits == of.bits * n])
        return f'(({name_of(of)}[{n}])({name_of(whole)})({self.int(depth + 1)[0]}))[{self.r.randrange(n)}]', of

    def pointed(self, depth):
        found = self.visible(lambda t: isinstance(t, Int) and not t.weak)
        if found and self.chance(40):
            name, t = self.one(*found)
            return f'(*(&{name}))', t
        found = self.visible(lambda t: isinstance(t, Pointer))
        if found and self.chance(60):
            name, t = self.one(*found)
            other = self.one(f'{name} + {self.one(1, 2, 10)}', f'{name} - {self.one(1, 2)}', name)
            return f'(uint64)({other})', UINT64
        t = self.one(*INTS)
        return f'(uint64)(({name_of(t)}*)({self.one(0, 8, 1000, 4096)} + 0) {self.one("+", "-")} {self.one(1, 2, 5)})', UINT64

    def called(self, depth):
        name, kind = self.one(*self.macros)
        if kind == 'expr':
            return f'{name}({self.int(depth + 1)[0]}, {self.int(depth + 1)[0]})', INT64
        found = [v for v, t in self.visible(lambda t: t == INT64) if v not in self.fixed]
        if kind == 'var' and found:
            return f'{name}({self.one(*found)})', INT64
        return self.wide(depth)

    def int(self, depth=0):
        """(text, type)"""
        found = self.readable(lambda t: isinstance(t, Int))
        if found and self.chance(40):
            return self.one(*found)
        if depth > 3 or self.chance(25):
            return self.number()
        text, t = self.one(self.cast, self.cast, self.unary, self.binary, self.binary, self.binary,
                           self.compound_int)(depth)
        return (text, t) if t else (f'({text})', Int('s', 8, True))

    # ---- other values -------------------------------------------------------------

    def bool(self, depth=0):
        found = self.readable(lambda t: isinstance(t, Bool))
        kind = self.r.randrange(10)
        if kind == 8:
            return f'(strcontains({self.str(depth + 1)}, "{self.one(*WORDS[1:5])}"))'
        if depth > 3 or kind == 0:
            return self.one('true', 'false')
        if kind == 1 and found:
            return self.one(*found)[0]
        if kind == 2:
            return '!' + bracketed(self.bool(depth + 1))
        if kind == 3:
            return f'({self.bool(depth + 1)} {self.one("&&", "||")} {self.bool(depth + 1)})'
        if kind == 4:
            return f'({self.str(depth + 1)} {self.one("==", "!=")} {self.one(*WORDS).join(chr(34) * 2)})'
        if kind == 5:
            return f'({self.same_tuples(depth)})'
        return f'({self.int(depth + 1)[0]} {self.one(*COMPARE)} {self.int(depth + 1)[0]})'

    def same_tuples(self, depth):
        t = self.tuple_type()
        return f'{self.value(t, depth + 1)} {self.one("==", "!=")} {self.value(t, depth + 1)}'

    def str(self, depth=0):
        found = self.readable(lambda t: isinstance(t, Str))
        if found and self.chance(40):
            return self.one(*found)[0]
        if depth < 3 and self.chance(15):
            return f'str_concat({self.str(depth + 1)}, "{self.one(*WORDS)}")' if self.joins else '"z"'
        return f'"{self.one(*WORDS)}"'

    def block_value(self, depth, value):
        """{ statements; value }, or an if with two such."""
        self.scopes.append([])
        self.blocks += 1
        stmts = ' '.join(self.statement(depth + 2) for _ in range(self.r.randint(1, 2)))
        text, t = value()
        self.blocks -= 1
        self.scopes.pop()
        text = f'{{ {stmts} {text} }}'
        if self.chance(25):
            text = f'if ({self.bool(depth + 1)}) {text} else {{ ({name_of(t)})({self.int(depth + 1)[0]}) }}'
        return f'({text})' if self.chance(50) else text, t

    def member_type(self, depth):
        if depth < 2 and self.chance(20):
            return self.tuple_type(depth + 1)
        return self.one(self.one(*INTS), INT64, Str(16), BOOL)

    def tuple_type(self, depth=0):
        members = tuple(self.member_type(depth) for _ in range(self.r.randint(2, 3)))
        names = tuple('abc'[:len(members)]) if self.chance(30) else None
        return Tuple(members, names)

    def value(self, t, depth=0):
        if isinstance(t, Int):
            found = self.readable(lambda k: k == t)
            return self.one(*found)[0] if found and self.chance(40) else f'({name_of(t)})({self.int(depth + 1)[0]})'
        if isinstance(t, Str):
            return self.str(depth)
        if isinstance(t, Bool):
            return self.bool(depth)
        if isinstance(t, Pointer):
            return f'({name_of(t)})({self.one(8, 800, 4096)})'
        if isinstance(t, Array):
            found = self.readable(lambda k: k == t)
            if found and self.chance(30):
                return self.one(*found)[0]
            return f'({name_of(t.of)}[{t.n}])({name_of(Int("u", t.of.bits * t.n, False))})({self.int(depth + 1)[0]})'
        found = self.readable(lambda k: k == t)
        if found and self.chance(30):
            return self.one(*found)[0]
        inner = [self.value(m, depth + 1) for m in t.members]
        return f'({", ".join(f"{n}={v}" for n, v in zip(t.names, inner)) if t.names else ", ".join(inner)})'

    # ---- maps ------------------------------------------------------------------------

    def key(self, t):
        if t == Str(16):
            return self.one(*KEYS['str'])
        if isinstance(t, Tuple):
            return ', '.join(self.key(m) for m in t.members)
        return f'({name_of(t)}){self.one(*KEYS["int"])}' if self.chance(50) else self.one(*KEYS['int'][:4])

    def element(self, m):
        return m.name if m.key is None else f'{m.name}[{self.key(m.key)}]'


class Maker(Values):
    """Statements, and the program."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.seed = seed
        self.scopes, self.maps, self.vars, self.budget, self.blocks, self.joins = [[]], [], 0, 18, 0, False
        self.macros = [(f'add{seed}', 'expr'), (f'step{seed}', 'var'), (f'pick{seed}', 'expr')]

    def fresh(self):
        self.vars += 1
        return f'$v{self.vars}'

    # ---- statements ---------------------------------------------------------------

    def new_variable(self, depth):
        name = self.fresh()
        t = self.one(INT64, INT64, UINT64, self.one(*INTS), Str(16), BOOL, self.tuple_type(), self.tuple_type(),
                     Pointer(self.one(*INTS)), self.one(*ARRAYS))
        if self.chance(20):
            text, t = self.int(1)
            if t is None or t.weak or t.bits < 64:
                t = Int(t.sign, 64, False) if t else INT64
                text = f'({name_of(t)})({text})'
        else:
            text = self.value(t, 1)
        declared = f': {name_of(t)}' if isinstance(t, Int) and self.chance(20) else ''
        line = f'let {name}{declared} = {text};' if declared or self.chance(30) else f'{name} = {text};'
        self.scopes[-1].append((name, t))
        return line

    def assign(self, depth):
        found = self.visible(lambda t: isinstance(t, Int) or not self.blocks)
        if not found:
            return self.new_variable(depth)
        name, t = self.one(*found)
        if name in self.fixed:
            return self.show(depth)
        if isinstance(t, Pointer):
            return self.one(f'{name}++;', f'{name}--;', f'{name} += {self.one(1, 2)};', f'{name} -= 1;')
        if t == INT64 and self.chance(60):
            op = self.one('+=', '-=', '*=', '&=', '|=', '^=')
            return self.one(f'{name}++;', f'{name}--;', f'{name} {op} {self.int(1)[0]};')
        if isinstance(t, Tuple) and self.chance(60):
            return f'{name} = {self.rebuilt(name, t)};'
        return f'{name} = {self.value(t, 1)};'

    def rebuilt(self, name, t):
        """A tuple that is made from itself."""
        members = []
        for i, m in enumerate(t.members):
            same = [k for k, other in enumerate(t.members) if other == m]
            k = self.one(*same)
            text = f'{name}.{t.names[k] if t.names else k}'
            if isinstance(m, Int) and self.chance(30):
                text = f'({name_of(m)})({text} + {self.one(1, 2)})'
            members.append(f'{t.names[i]}={text}' if t.names else text)
        return f'({", ".join(members)})'

    def write_map(self, depth):
        m = self.one(*self.maps)
        where = self.element(m)
        if m.value == INT64 and self.chance(60):
            return self.one(f'{where}++;', f'{where}--;', f'{where} += {self.int(1)[0]};', f'{where} -= {self.int(1)[0]};',
                            f'{where} = {where} + 1;', f'{where} *= 3;')
        if isinstance(m.value, Tuple) and self.chance(50):
            return f'{where} = {self.rebuilt(where, m.value)};'
        if isinstance(m.value, Pointer):
            return self.one(f'{where}++;', f'{where}--;', f'{where} += {self.one(1, 3)};', f'{where} -= 1;')
        return f'{where} = {self.value(m.value, 1)};'

    def show(self, depth):
        kind = self.r.randrange(8)
        if kind == 0:
            return f'printf("%d %s\\n", (int64)({self.int(1)[0]}), {self.str(1)});'
        if kind == 1:
            self.joins = True # its result is as long as any string, so it is shown separately
            text = f'print({self.str(1)});'
            self.joins = False
            return text
        if kind == 2:
            return f'print({self.bool(1)});'
        if kind == 3:
            return f'print({self.value(self.tuple_type(), 1)});'
        if kind == 4:
            found = self.visible(lambda t: True)
            return f'print({self.one(*found)[0]});' if found else 'print(0);'
        if kind == 5:
            return f'printf("%x %u %ld\\n", {self.wide(1)[0]}, (uint32)({self.int(1)[0]}), {self.wide(1)[0]});'
        if kind == 6:
            return f'print({self.value(self.one(*ARRAYS), 1)});'
        return f'print({self.int(1)[0]});'

    def block(self, depth, least=1, extra=''):
        self.scopes.append([])
        text = ' '.join(self.statement(depth + 1) for _ in range(self.r.randint(least, 3)))
        self.scopes.pop()
        return f'{{ {text}{extra} }}'

    def branch(self, depth):
        return f'if ({self.bool(1)}) {self.block(depth)}' + (f' else {self.block(depth)}' if self.chance(50) else '')

    def loop(self, depth):
        name = self.fresh()
        kind = self.r.randrange(3)
        if kind == 0:
            text = f'unroll ({self.one(2, 3)}) {self.block(depth)}'
        elif kind == 1:
            self.fixed.add(name)
            self.scopes.append([(name, Int('s', 8, False))])  # the type of its ends
            leave = f' if ({name} == {self.one(1, 2, 3)}) {{ {self.one("break", "continue")}; }}' if self.chance(30) else ''
            body = self.block(depth, 1, leave + f' print({name});' if self.chance(50) else leave)
            text = f'for ({name} : {self.one("0", "(-2)", "1")}..{self.one("2", "4", "5")}) {body}'
            self.scopes.pop()
        else:
            self.fixed.add(name)
            self.scopes[-1].append((name, INT64))
            text = f'{name} = (int64)0; while ({name} < {self.one(2, 3)}) {self.block(depth, 1, f" {name}++;")}'
        return text

    def over_map(self, depth):
        found = [m for m in self.maps if m.key is not None]
        if not found:
            return self.show(depth)
        m, total, kv = self.one(*found), self.fresh(), self.fresh()
        add = f'{total} += {kv}.1;' if m.value == INT64 else f'{total}++;'
        if isinstance(m.key, Int):
            add += f' {total} += (int64){kv}.0;'
        inner = f'for ({kv} : {m.name}) {{ {add} }}'
        self.scopes[-1].append((total, INT64))
        if self.chance(50):
            return f'{total} = {{ $n = (int64)0; {inner.replace(total, "$n")} $n }}; print({total});'
        return f'{total} = (int64)0; {inner} print({total});'

    def about_map(self, depth):
        m = self.one(*self.maps)
        if m.key is None:
            return f'print(({m.name}, 1));'
        key = self.key(m.key)
        key = f'({key})' if isinstance(m.key, Tuple) else key
        return self.one(f'print(has_key({m.name}, {key}));', f'print(delete({m.name}, {key}));', f'print(len({m.name}));',
                        f'print(({m.name}[{self.key(m.key)}], 1));')

    def aggregate(self, depth):
        if self.blocks:
            return self.show(depth)
        name, kind = self.one(*self.aggregations)
        t = {'sum': INT64, 'min': INT64, 'max': UINT64, 'avg': UINT64}.get(kind, INT64)
        arg = '' if kind == 'count' else f'({name_of(t)})({self.int(1)[0]} & 0xffff)'
        return f'{name} = {kind}({arg}); print((int64){name});'

    def statement(self, depth=0):
        self.budget -= 1
        if self.budget > 0 and depth < 3 and self.chance(30):
            return self.one(self.branch, self.branch, self.loop, self.block, self.over_map)(depth)
        return self.one(self.new_variable, self.new_variable, self.assign, self.assign, self.assign, self.write_map,
                        self.write_map, self.show, self.show, self.about_map, self.aggregate)(depth)

    # ---- the program -----------------------------------------------------------------

    def make_maps(self):
        first = Map(f'@m{self.seed}_0', None, INT64, True)
        lines = [f'{first.name} = (int64){self.one(0, 5, 1000)};']
        self.maps.append(first)
        for i in range(1, self.r.randint(2, 4)):
            key = self.one(None, None, INT64, self.one(*INTS[:6]), Str(16), Tuple((INT64, Str(16)), None))
            value = self.one(INT64, INT64, UINT64, Str(16), BOOL, self.tuple_type(), Pointer(self.one(*INTS)),
                             self.one(*ARRAYS))
            m = Map(f'@m{self.seed}_{i}', key, value, True)
            lines.append(f'{self.element(m)} = {self.value(value, 2)};')
            self.maps.append(m)
        return ' '.join(lines)

    def macro_texts(self):
        add, step, pick = (name for name, _ in self.macros)
        op = self.one('+', '-', '*', '^')
        return (f'macro {add}(a, b) {{ $x = (int64)(a); $x {op}= (int64)(b); $x }}\n'
                f'macro {step}($v) {{ $v += {self.one(1, 2, 10)}; $v = $v {op} 3; $v }}\n'
                f'macro {pick}(a, b) {{ if ((int64)(a) > (int64)(b)) {{ (int64)(a) }} else {{ (int64)(b) }} }}\n')

    def program(self):
        self.fixed = set()
        self.aggregations = [(f'@a{self.seed}_{kind}', kind) for kind in ('count', 'sum', 'min', 'max', 'avg')]
        macros, maps = self.macro_texts(), self.make_maps()
        body = '\n\t'.join(self.statement() for _ in range(self.r.randint(4, 9)))
        ends = '\n\t'.join(f'print((len({m.name}), 0));' if m.key is not None else f'print(({m.name}, 0));' for m in self.maps)
        return f'{macros}begin {{\n\tprintf("== {self.seed}\\n");\n\t{maps}\n\t{body}\n\t{ends}\n}}\n'


def program(seed):
    return Maker(seed).program()


if __name__ == '__main__':
    import sys
    print(program(int(sys.argv[1])), end='')
