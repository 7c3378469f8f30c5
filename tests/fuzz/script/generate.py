# SPDX-License-Identifier: Apache-2.0
"""generate.py - generates valid scripts from a seed: script(seed) is always the same text.

The scripts have every kind of statement, value, map and probe of the language. The generator
tracks types as the checker does, so a refusal is a bug. It keeps documented limits (loops around
a stack, maps in one program)."""
import random

import wider

INT_BUILTINS = ['pid', 'tid', 'uid', 'gid', 'cpu', 'nsecs', 'elapsed', 'rand', 'ncpus', 'cgroup']
AGGREGATIONS = ['count', 'sum', 'min', 'max', 'avg', 'stats', 'hist', 'lhist']
READABLE = ['count', 'sum', 'min', 'max', 'avg']
STACK_MODES = ['', 'perf', 'raw', 'full', 'folded', 'bpftrace', 'build_id']
WORDS = ['', 'a', 'ab', 'abc', 'quick', 'brown fox', '\\n', '\\x41\\t', '\\\\', '%d', 'é',
         'abcdefghijklmnopqrstuvwxyz', 'x' * 63, 'y' * 64, 'z' * 65, 'w' * 200]

# attach point, and the builtins that are available there
PROBES = [
    ('begin', {}), ('end', {}), ('BEGIN', {}),
    ('interval:ms:100', {}), ('interval:s:1', {}), ('interval:hz:10', {}), ('i:5ms', {}),
    ('profile:hz:99', {'place': True}), ('p:ms:10', {'place': True}),
    ('tracepoint:sched:sched_switch', {'str': ['args.prev_comm', 'args.next_comm'],
                                       'int': ['args.prev_pid', 'args.next_prio']}),
    ('t:syscalls:sys_enter_openat', {'str': ['str(args.filename)', 'str(args->filename, 20)'],
                                     'int': ['args.dfd', 'args.flags', 'args.__syscall_nr']}),
    ('tracepoint:syscalls:sys_exit_openat', {'int': ['args.ret']}),
    ('tracepoint:sched:sched_*', {'place': True}),
    ('rawtracepoint:sched_switch', {'int': ['arg0', 'arg1']}),
    ('uprobe:libc:malloc', {'int': ['arg0', 'arg5'], 'func': True, 'place': True,
                            'str': ['str(arg0)', 'str(arg1, 7)', 'str(arg1, arg2)']}),
    ('uretprobe:libc:malloc', {'int': ['retval'], 'func': True, 'place': True, 'str': ['str(retval)']}),
    ('u:libc:mallo*', {'int': ['arg0'], 'func': True, 'place': True}),
    ('uprobe:libc:puts, uprobe:libc:fputs', {'int': ['arg1'], 'func': True, 'place': True}),
    ('kprobe:vfs_read', {'int': ['arg0', 'arg2'], 'func': True, 'place': True, 'join': True}),
    ('kretprobe:vfs_read', {'int': ['retval'], 'func': True, 'place': True}),
]


class Map:
    def __init__(self, name, keys, value):
        self.name, self.keys, self.value = name, keys, value


class Maker(wider.Wider):
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.maps = []
        self.next_var = 0
        self.typed = {}  # variables whose type a let declares
        self.budget = 0
        self.level = 0 # nesting depth of map elements within keys

    def one(self, *choices):
        return self.r.choice(choices)

    def chance(self, percent):
        return self.r.randrange(100) < percent

    # ---- types: 'int', 'bool', 'str', or a tuple of types --------------------

    def type(self, depth=0):
        if depth < 2 and self.chance(18):
            return tuple(self.type(depth + 1) for _ in range(self.r.randint(1, 4)))
        return self.one('int', 'int', 'int', 'str', 'str', 'bool')

    def make_maps(self):
        for i in range(self.r.randint(1, 9)):
            keys = [self.key_type() for _ in range(self.r.choice([0, 0, 1, 1, 2, 3]))]
            value = self.one('agg', 'agg', 'plain', 'plain', 'plain', 'stack')
            if value == 'agg':
                value = self.aggregation()
            elif value == 'plain':
                value = self.type()
            name = self.one('@m', '@_x', '@long_name_') + str(i) if i else '@'
            self.maps.append(Map(name, keys, value))

    def key_type(self):
        return self.one('int', 'int', 'str', 'bool', 'stack', 'place', 'sym', ('int', 'str'), ('str', ('bool', 'int')))

    def aggregation(self):
        kind = self.one(*AGGREGATIONS)
        extra = ''
        if kind == 'hist' and self.chance(40):
            extra = f', {self.r.randint(0, 5)}'
        if kind == 'lhist':
            low = self.one(0, -100, 7)
            extra = f', {low}, {low + self.one(1, 10, 1000)}, {self.one(1, 3, 10)}'
        return ('agg', kind, extra)

    # ---- values ---------------------------------------------------------------

    def number(self):
        return self.one('0', '1', '2', '3', '7', '63', '64', '100', '0x7f', '0xffffffff', '1000000007',
                        '1_000', '5e3', '0x7fffffffffffffff', '-1', '-128', '2147483648')

    def small(self):
        return str(self.r.randint(1, 9))

    def value(self, t, depth=0):
        if t == 'int':
            return self.int(depth)
        if t == 'bool':
            return self.bool(depth)
        if t == 'str':
            return self.str(depth)
        if t == 'stack':
            return self.stack()
        if t == 'place':
            return 'probe'
        if t == 'sym':
            return f'ksym({self.int(depth + 1)})'
        return self.tuple(t, depth)

    def variables(self, t):
        return [name for scope in self.scopes for name, kind in scope if kind == t]

    def readable_maps(self, t):
        return [m for m in self.maps if m.value == t
                or (t == 'int' and isinstance(m.value, tuple) and m.value[:1] == ('agg',) and m.value[1] in READABLE)]

    def leaf(self, t):
        """Returns a variable or a map's element of the type, if one exists."""
        names = self.variables(t)
        if names and self.chance(60):
            return self.r.choice(names)
        maps = self.readable_maps(t)
        if not maps or self.level > 2 or self.chance(50):
            return None
        m = self.r.choice(maps)
        text = self.deeper(m)
        return text if m.value == t else self.one(f'(int64){text}', f'({text} + 1)')

    def deeper(self, m):
        self.level += 1
        text = self.element(m, 3)
        self.level -= 1
        return text

    def members(self, t):
        """Returns $tuple.0 and similar members with this type."""
        return [f'{name}{self.one(f".{i}", f"[{i}]")}' for scope in self.scopes for name, kind in scope
                if isinstance(kind, tuple) for i, k in enumerate(kind) if k == t]

    def int(self, depth):
        if depth < 3 and self.chance(12):
            return self.wide_int(depth)
        if depth < 4 and self.chance(50):
            d = depth + 1
            return self.r.choice([
                lambda: f'{self.paren(d)} {self.one("+", "-", "*", "&", "|", "^")} {self.paren(d)}',
                lambda: f'{self.paren(d)} {self.one("/", "%")} {self.one(self.small(), "(pid | 1)", "cpu", "nsecs")}',
                lambda: f'{self.paren(d)} {self.one("<<", ">>")} {self.one(self.small(), "cpu", "rand")}',
                lambda: f'{self.one("-", "~")}{self.paren(d)}',
                lambda: f'(({self.one("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "uint64_t")}){self.paren(d)})',
                lambda: f'({self.bool(d)} ? {self.int(d)} : {self.int(d)})',
                lambda: f'({self.int(d)} ?: {self.int(d)})',
                lambda: self.size(d),
                lambda: self.len(d),
                lambda: self.changed(),
                lambda: self.char(d),
            ])()
        here = self.here.get('int', [])
        members = self.members('int')
        choices = [lambda: self.one(*INT_BUILTINS), self.number, lambda: self.leaf('int') or self.number()]
        if here:
            choices.append(lambda: self.r.choice(here))
        if members:
            choices.append(lambda: self.r.choice(members))
        if self.chance(5):
            choices.append(lambda: '$1')
        if self.chance(9) and self.bodies < 3 and self.user_stacks:
            choices.append(lambda: 'goid')
        return self.r.choice(choices)()

    def size(self, depth):
        of = self.one('uint8', 'int32', 'bool', 'string[9]', 'typeof(comm)', self.int(depth), self.value('str', depth))
        return self.one(f'sizeof({of})', f'((typeof({self.int(depth)})){self.paren(depth)})')

    def paren(self, depth):
        text = self.int(depth)
        return text if text.replace('_', '').isalnum() else f'({text})'

    def len(self, depth):
        keyed = [m for m in self.maps if m.keys]
        choice = self.r.randrange(3)
        if choice == 0 and keyed:
            return f'len({self.r.choice(keyed).name})'
        if choice == 1 and not self.bodies:
            return f'len({self.stack()})'
        names = self.variables('str')
        return f'len({self.r.choice(names)})' if names else f'len({self.str(depth)})'

    def char(self, depth):
        names = self.variables('str')
        if not names:
            return self.number()
        return f'{self.r.choice(names)}[{self.one("0", "1", "cpu", self.paren(depth))}]'

    def changed(self):
        """++ and -- of a variable or an element."""
        names = [n for n in self.variables('int') if n not in self.loop_vars]
        maps = [m for m in self.maps if m.value == 'int' and (self.level < 2 or not m.keys)]
        what = self.r.choice(names) if names and self.chance(50) else \
            self.deeper(self.r.choice(maps)) if maps else None
        if what is None:
            return self.number()
        return self.one(f'{what}++', f'{what}--', f'++{what}', f'--{what}')

    def bool(self, depth):
        if depth < 3 and self.chance(10):
            return self.wide_bool(depth)
        if depth < 4 and self.chance(80):
            d = depth + 1
            return self.r.choice([
                lambda: f'{self.paren(d)} {self.one("==", "!=", "<", ">", "<=", ">=")} {self.paren(d)}',
                lambda: f'{self.str_place(d)} {self.one("==", "!=")} {self.str_place(d)}',
                lambda: f'({self.bool(d)}) {self.one("&&", "||")} ({self.bool(d)})',
                lambda: f'!({self.one(self.bool(d), self.int(d))})',
                lambda: f'(bool)({self.int(d)})',
                lambda: self.has_key(d),
                lambda: self.same_tuples(d),
                lambda: f'({self.bool(d)} ? {self.bool(d)} : {self.bool(d)})',
            ])()
        return self.leaf('bool') or self.one('true', 'false')

    def str_place(self, depth):
        """A string that may be compared with one that is not a literal."""
        names = self.variables('str')
        return self.r.choice(names) if names and self.chance(60) else self.one('comm', self.text())

    def same_tuples(self, depth):
        t = tuple(self.one('int', 'str', 'bool') for _ in range(self.r.randint(1, 3)))
        return f'{self.tuple(t, depth + 2)} {self.one("==", "!=")} {self.tuple(t, depth + 2)}'

    def has_key(self, depth):
        keyed = [m for m in self.maps if m.keys]
        if not keyed or self.level > 1:
            return 'true'
        m = self.r.choice(keyed)
        self.level += 1
        keys = self.keys_as_one(m, depth)
        self.level -= 1
        return f'has_key({m.name}, {keys})'

    def text(self):
        return f'"{self.one(*WORDS)}"'

    def str(self, depth):
        if depth < 3 and self.chance(12):
            return self.wide_str(depth)
        if depth < 4 and self.chance(15):
            return f'({self.bool(depth + 1)} ? {self.str(depth + 1)} : {self.str(depth + 1)})'
        here = self.here.get('str', [])
        members = self.members('str')
        choices = [self.text, lambda: 'comm', lambda: self.leaf('str') or self.text()]
        if self.chance(9) and self.bodies < 3 and self.user_stacks:
            choices.append(lambda: 'beampid')
        if here:
            choices.append(lambda: self.r.choice(here))
        if members:
            choices.append(lambda: self.r.choice(members))
        if self.chance(5):
            choices.append(lambda: 'str($2)')
        if self.chance(5):
            choices.append(lambda: f'str({self.text()}, {self.one("3", "cpu", "100")})')
        return self.r.choice(choices)()

    def tuple(self, t, depth):
        known = self.leaf(t)
        if known and self.chance(70):
            return known
        inner = ', '.join(self.value(k, depth + 1) for k in t)
        return f'({inner},)' if len(t) == 1 else f'({inner})'

    def stack(self):
        """A stack that any map may hold: all have one kind and mode."""
        return self.stack_kind

    def any_stack(self):
        if self.bodies > 1 or not self.user_stacks:
            return 'kstack'
        what = self.one('kstack', 'ustack', 'ustack', 'pystack', 'jsstack', 'gostack')
        mode, limit = self.one(*STACK_MODES), self.one('', '', '1', '5', '100')
        if what == 'kstack' and mode == 'build_id':
            mode = 'raw'
        args = ', '.join(x for x in (mode, limit) if x)
        return f'{what}({args})' if args else what

    # ---- maps -------------------------------------------------------------------

    def element(self, m, depth):
        if not m.keys:
            return m.name
        return f'{m.name}[{", ".join(self.value(k, max(depth, 2)) for k in m.keys)}]'

    def keys_as_one(self, m, depth):
        keys = [self.value(k, max(depth, 2)) for k in m.keys]
        return keys[0] if len(keys) == 1 else f'({", ".join(keys)})'

    def write(self, m):
        where = self.element(m, 2)
        if m.value == 'stack':
            return f'{where} = {self.stack()}'
        if isinstance(m.value, tuple) and m.value[:1] == ('agg',):
            _, kind, extra = m.value
            return f'{where} = {kind}({"" if kind == "count" else self.int(1) + extra})'
        if m.value == 'int' and self.chance(40):
            return f'{where} {self.one("+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=")} {self.int(1)}'
        return f'{where} = {self.value(m.value, 1)}'

    # ---- statements -----------------------------------------------------------------

    def fresh(self):
        self.next_var += 1
        return f'$v{self.next_var}'

    def new_variable(self):
        t, name = self.type(), self.fresh()
        value = self.value(t, 1)
        self.scopes[-1].append((name, t))
        if t == 'int' and self.chance(25):
            self.typed[name] = self.one('int64', 'uint64', 'int32', 'uint8')
            return f'let {name}: {self.typed[name]} = {self.small()}'
        if t == 'bool' and self.chance(20):
            return f'let {name}: bool = {value}'
        return f'{self.one("", "let ")}{name} = {value}'

    def assign(self):
        known = [(n, t) for scope in self.scopes for n, t in scope if n not in self.loop_vars]
        if not known:
            return self.new_variable()
        name, t = self.r.choice(known)
        if name in self.typed:  # strata refuses a literal that does not fit
            return self.one(f'{name}++', f'{name} = ({self.typed[name]}){self.paren(1)}')
        if t == 'int' and self.chance(50):
            return self.one(f'{name}++', f'{name} {self.one("+=", "-=", "*=", "|=")} {self.int(1)}')
        return f'{name} = {self.value(t, 1)}'

    def printf(self):
        parts, args = [], []
        for _ in range(self.r.randint(0, 5)):
            t = self.one('int', 'int', 'str', 'bool', 'tuple', 'stack', 'sym', 'place')
            if self.chance(10):
                conversion, argument = self.printed()
                parts.append(conversion)
                args.append(argument)
            elif t == 'int':
                parts.append(self.one('%d', '%u', '%x', '%llx', '%5d', '%-8d', '%08lx', '%c', '%i', '%o', '%ld'))
                args.append(self.int(1))
            elif t == 'stack':
                parts.append('%s')
                args.append(self.any_stack())
            elif t == 'sym':
                parts.append('%s')
                args.append(f'{self.one("ksym", "usym")}({self.int(2)})')
            elif t == 'place':
                parts.append('%s')
                args.append(self.one('probe', 'func') if self.here.get('func') else 'probe')
            elif t == 'tuple':
                parts.append('%s')
                args.append(self.tuple(('int', 'str'), 2))
            else:
                parts.append('%s' if t == 'str' else '%d')
                args.append(self.value(t, 1))
            parts.append(self.one(' ', ', ', '%%', '\\n', 'text '))
        return f'printf("{"".join(parts)}"{"".join(", " + a for a in args)})'

    def show(self):
        m = self.r.choice(self.maps)
        simple = not (isinstance(m.value, tuple) and m.value[:1] == ('agg',)) or m.value[1] in READABLE
        return self.r.choice([
            lambda: f'print({self.value(self.type(), 1)})',
            lambda: f'print({m.name})',
            lambda: f'print({m.name}, {self.small()})' if m.keys else f'print({m.name})',
            lambda: f'print({m.name}, {self.small()}, 2)' if m.keys and simple and m.value != 'stack' else f'clear({m.name})',
            lambda: f'print({self.element(m, 2)})' if simple else f'zero({m.name})',
            lambda: f'print({self.any_stack()})',
            lambda: f'clear({m.name})',
            lambda: f'zero({m.name})',
            lambda: f'delete({m.name}, {self.keys_as_one(m, 2)})' if m.keys else f'delete({m.name})',
            lambda: f'delete({self.element(m, 2)})',
        ])()

    def block(self, indent, least=0):
        self.scopes.append([])
        text = self.statements(indent + 1, self.r.randint(least, 3))
        self.scopes.pop()
        return '{\n' + text + '\t' * indent + '}'

    def body(self, indent):
        """The body of a loop; whether strata compiles it to a function does not matter here."""
        self.bodies += 1
        self.loops += 1
        text = self.block(indent, 1)
        self.loops -= 1
        self.bodies -= 1
        return text

    def branch(self, indent):
        text = f'if ({self.one(self.bool(1), self.int(1))}) {self.block(indent, 1)}'
        while self.chance(25):
            text += f' else if ({self.bool(2)}) {self.block(indent)}'
        return text + (f' else {self.block(indent)}' if self.chance(40) else '')

    def range(self, indent):
        name = self.fresh()
        start, end = self.one('0', '1', '-5', 'cpu', f'({self.int(3)})'), \
            self.one('3', '8', '9', '100', '10000', '1000000', 'pid', 'ncpus', '(uint8)rand', f'({self.int(3)})')
        self.scopes.append([(name, 'int')])
        self.loop_vars.add(name)
        # Parentheses, since the ends of a range are no sums.
        text = f'for ({name} : {start}..{end}) {self.body(indent)}'
        self.scopes.pop()
        return text

    def repeat(self, indent):
        if self.chance(50):
            return f'unroll ({self.one("1", "2", "5", "20", "100")}) {self.body(indent)}'
        self.bodies += 1
        test = self.bool(1)
        self.bodies -= 1
        return f'while ({test}) {self.body(indent)}'

    def statement(self, indent):
        self.budget -= 1
        if self.budget > 0 and indent < 6 and self.chance(30):
            kinds = [self.branch, self.branch, self.block]
            if self.bodies < 4:
                kinds += [self.range, self.range, self.repeat, self.over_map]
            return self.r.choice(kinds)(indent)
        if self.loops and self.chance(10):
            return f'if ({self.bool(1)}) {{ {self.one("break", "continue", "return")}; }}'
        if self.chance(3):
            return f'if ({self.bool(1)}) {{ {self.one("exit()", "exit(3)", "return")}; }}'
        if self.here.get('join') and self.chance(10):
            return f'join({self.one("arg0", "arg1")}{self.one("", ", " + self.text())});'
        if self.chance(12):
            return self.wide_statement() + ';'
        write = lambda: self.write(self.r.choice(self.maps))
        return self.r.choice([write, write, write, self.new_variable, self.new_variable, self.assign,
                              self.printf, self.show, lambda: f'_ = {self.int(1)}'])() + ';'

    def statements(self, indent, n):
        return ''.join('\t' * indent + self.statement(indent) + '\n' for _ in range(n))

    # ---- the script ------------------------------------------------------------------

    def probe(self):
        points, self.here = self.r.choice(PROBES)
        self.scopes, self.loop_vars, self.bodies, self.loops = [[]], set(), 0, 0
        self.budget = 25
        predicate = f' /{self.bool(1)}/' if self.chance(20) else ''
        return f'{points}{predicate} {{\n{self.statements(1, self.r.randint(1, 7))}}}\n'

    def config(self):
        lines = [self.one('max_strlen = 64', 'max_strlen = 200'), 'max_map_keys = 100',
                 self.one('stack_mode = perf', 'stack_mode = bpftrace'), 'print_maps_on_exit = false']
        return f'config = {{ {"; ".join(self.r.sample(lines, 2))}; }}\n'

    def script(self):
        self.user_stacks = self.chance(15)  # rare, since the verifier takes long for them
        self.stack_kind = self.one('kstack', 'kstack(perf, 5)')
        self.make_maps()
        macros = self.make_macros()
        probes = [self.probe() for _ in range(self.r.randint(1, 4))]
        # Each map is written somewhere, so that the checker knows its type.
        self.here, self.scopes, self.loop_vars, self.bodies, self.loops = {}, [[]], set(), 0, 0
        maps, lines = self.maps, []
        self.maps = []
        for m in maps:
            lines.append(f'\t{self.write(m)};\n')
        self.maps = maps
        probes.insert(self.r.randint(0, len(probes)), f'begin {{\n{"".join(lines)}}}\n')
        declarations = ''
        if self.chance(15):
            declarations, writer = self.declared()
            probes.append(writer)
        return (self.config() if self.chance(15) else '') + macros + declarations + ''.join(probes)


def script(seed):
    return Maker(seed).script()


if __name__ == '__main__':
    import sys
    print(script(int(sys.argv[1])), end='')
