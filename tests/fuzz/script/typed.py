# SPDX-License-Identifier: Apache-2.0
"""typed.py - generates scripts with types from a seed: structs of the kernel (read from its BTF, so that
a seed's script depends on the kernel) and of a C part, pointers, arrays, records, casts, blocks.

The generator makes values forwards: a value, then an operation that its type has. The checker may refuse a
script, since the generator knows the types but not every rule; it accepts most."""
import random

import btf

INT, BOOL = ('int', 's8'), ('bool',)
ROOTS = ['task_struct', 'mm_struct', 'file', 'sk_buff', 'list_head', 'cred', 'nsproxy', 'sock', 'inode', 'dentry',
         'path', 'pid_namespace', 'vm_area_struct', 'net_device', 'tcp_sock', 'super_block', 'signal_struct', 'page',
         'sched_entity', 'request_queue', 'bio', 'socket', 'pt_regs', 'iphdr', 'tcphdr', 'ipv6hdr', 'in6_addr']
ENUMS = ['enum pid_type', 'enum hrtimer_restart']
C_INTS = [('signed char', 's1'), ('unsigned char', 'u1'), ('short', 's2'), ('unsigned short', 'u2'), ('int', 's4'),
          ('unsigned', 'u4'), ('long', 's8'), ('unsigned long', 'u8'), ('_Bool', 'u1')]
SIZES = {1: ['int8', 'uint8'], 2: ['int16', 'uint16'], 4: ['int32', 'uint32', 'int'], 8: ['int64', 'uint64', 'uint64_t']}
KINDS = {'s1': 'int8', 'u1': 'uint8', 's2': 'int16', 'u2': 'uint16', 's4': 'int32', 'u4': 'uint32', 's8': 'int64', 'u8': 'uint64'}
TASK = ('ptr', ('struct', 'struct task_struct'))
REGS = ('ptr', ('struct', 'struct pt_regs'))
PROBES = [
    ('begin', []), ('end', []), ('interval:ms:100', []),
    ('profile:hz:99', [('ctx.regs.ip', INT), ('ctx.sample_period', INT), ('ctx.regs.sp', INT), ('ctx.addr', INT)]),
    ('tracepoint:sched:sched_switch', [('args.prev_comm', ('str', 16)), ('args.next_pid', INT), ('args', None)]),
    ('tracepoint:syscalls:sys_enter_openat', [('args.filename', ('ptr', ('int', 's1'))), ('args.flags', INT), ('args', None)]),
    ('tracepoint:raw_syscalls:sys_enter', [('args.args', ('arr', ('int', 'u8'), 6)), ('args.id', INT), ('args', None)]),
    ('rawtracepoint:sched_switch', [('args.prev', TASK), ('args.next', TASK), ('args', None), ('arg1', INT)]),
    ('rawtracepoint:sched_process_exec', [('args.p', TASK), ('args.old_pid', INT),
                                          ('args.bprm', ('ptr', ('struct', 'struct linux_binprm')))]),
    ('rawtracepoint:sys_enter', [('args.regs', REGS), ('args.id', INT), ('args', None)]),
    ('kprobe:vfs_read', [('((struct file *)arg0)', ('ptr', ('struct', 'struct file'))), ('arg1', INT)]),
    ('uprobe:libc:malloc', [('arg0', INT), ('((uint64 *)arg0)', ('ptr', INT))]),
]
KERNEL = None


def kernel():
    global KERNEL
    KERNEL = KERNEL or btf.Btf()
    return KERNEL


class Typed:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.own, self.maps, self.next = {}, {}, 0
        self.scopes, self.bodies, self.loops, self.here = [[]], 0, 0, []

    def one(self, *choices):
        return self.r.choice(choices)

    def chance(self, percent):
        return self.r.randrange(100) < percent

    def fresh(self):
        self.next += 1
        return f'$v{self.next}'

    # ---- the C part ---------------------------------------------------------------

    def dimensions(self, most):
        return [self.r.choice([1, 2, 3, 4, 7, 16]) for _ in range(self.r.randint(1, most))]

    def c_member(self, i, depth):
        """(text, members): an unnamed struct or union has several."""
        name = f'm{i}'
        kind = self.one('int', 'int', 'array', 'bits', 'bits', 'struct', 'unnamed', 'pointer', 'text')
        if kind in ('struct', 'unnamed') and depth > 2:
            kind = 'int'
        if kind == 'struct' and self.own:
            inner = self.r.choice(list(self.own))
            if self.chance(30):
                n = self.r.randint(1, 4)
                return f'{inner} {name}[{n}];', [(name, ('arr', ('struct', inner), n), False)]
            return f'{inner} {name};', [(name, ('struct', inner), False)]
        if kind == 'unnamed':
            parts = [self.c_member(f'{i}_{k}', depth + 1) for k in range(self.r.randint(1, 4))]
            tag = self.one('struct', 'union')
            return f'{tag} {{ {" ".join(p[0] for p in parts)} }};', [m for p in parts for m in p[1]]
        if kind == 'pointer':
            to = ('struct', self.r.choice(list(self.own))) if self.own else INT
            stars = self.r.randint(1, 3)
            t = to
            for _ in range(stars):
                t = ('ptr', t)
            return f'{to[1] if to != INT else "long"} {"*" * stars}{name};', [(name, t, False)]
        if kind == 'text':
            n = self.r.choice([1, 2, 5, 8, 16, 33, 100])
            return f'char {name}[{n}];', [(name, ('str', n), False)]
        word, size = self.r.choice(C_INTS)
        t = BOOL if word == '_Bool' else ('int', size)
        if kind == 'bits':
            bits = self.r.randint(1, 1 if word == '_Bool' else int(size[1]) * 8)
            return f'{word} {name} : {bits};', [(name, t, True)]
        if kind == 'array':
            n = self.dimensions(3)
            for k in reversed(n):
                t = ('arr', t, k)
            return f'{word} {name}{"".join(f"[{k}]" for k in n)};', [(name, t, False)]
        return f'{word} {name};', [(name, t, False)]

    def c_part(self):
        text = ''
        for i in range(self.r.randint(1, 4)):
            tag = f'{self.one("struct", "struct", "union")} s{i}'
            parts = [self.c_member(f'{i}_{k}', 0) for k in range(self.r.randint(1, 9))]
            packed = ' __attribute__((packed))' if self.chance(25) else ''
            text += f'{tag} {{ {" ".join(p[0] for p in parts)} }}{packed};\n'
            self.own[tag] = [m for p in parts for m in p[1]]
        return text

    def members(self, name):
        return self.own[name] if name in self.own else kernel().members(name)

    # ---- types ----------------------------------------------------------------------

    def spell(self, t):
        if t is None:
            return 'void'
        if t[0] == 'int':
            return KINDS.get(t[1], 'int64')
        if t[0] == 'bool':
            return 'bool'
        if t[0] == 'str':
            return f'string[{t[1]}]'
        if t[0] == 'ptr':
            inner = self.spell(t[1])
            return f'{inner} *' if not inner.endswith('*') else f'{inner}*'
        if t[0] == 'arr':
            return f'{self.spell(t[1])}[{t[2]}]'
        return t[1]

    def word(self, size):
        kind = self.one('s', 'u') + str(size)
        return KINDS[kind], kind

    def struct(self):
        if self.own and self.chance(60):
            return self.r.choice(list(self.own))
        return f'struct {self.r.choice(ROOTS)}'

    # ---- values -----------------------------------------------------------------------

    def start(self, d):
        """Returns a value that needs no other value: (text, type)."""
        known = [v for scope in self.scopes for v in scope]
        if known and self.chance(45):
            return self.r.choice(known)
        here = [h for h in self.here if h[1]]
        if here and self.chance(40):
            return self.r.choice(here)
        if self.maps and d < 3 and self.chance(20):
            name, (keys, t) = self.r.choice(list(self.maps.items()))
            if t and t[0] != 'agg':
                return self.element(name, keys, d + 1), t
        return self.r.choice([
            lambda: ('curtask', TASK),
            lambda: self.struct_pointer(d),
            lambda: self.struct_pointer(d),
            lambda: self.struct_pointer(d),
            lambda: (self.int(d + 1), INT),
            lambda: ('comm', ('str', 16)),
            lambda: self.literal(),
            lambda: self.made_array(d),
            lambda: self.int_pointer(d),
            lambda: self.tuple(d),
            lambda: self.buffer(d),
            lambda: self.text(d),
            lambda: self.block(d),
            lambda: self.choice(d),
            lambda: self.address(),
            lambda: (f'({self.r.choice(ENUMS)}){self.int(d + 1)}', ('enum', 'x')),
            lambda: (f'typeinfo({self.value(d + 1)[0]})', None) if self.chance(20) else ('"z"', ('str', 2)),
        ])()

    def struct_pointer(self, d):
        name, stars = self.struct(), self.one(1, 1, 1, 1, 2, 3)
        t = ('struct', name)
        for _ in range(stars):
            t = ('ptr', t)
        text = f'({name} {"*" * stars}){self.base(d)}'
        if self.chance(10):
            text = f'{self.one("kptr", "uptr")}({text})'
        return f'({text})', t

    def base(self, d):
        return self.one('0', '8', '0xffff888000000000', 'curtask', 'rand', f'({self.int(d + 2)})')

    def int_pointer(self, d):
        size, stars = self.one(1, 2, 4, 8), self.one(1, 1, 2)
        word, kind = self.word(size)
        t = ('int', kind)
        for _ in range(stars):
            t = ('ptr', t)
        return f'(({word} {"*" * stars}){self.base(d)})', t

    def literal(self):
        text = 'abcdefghijklmnopqrstuvwxyz' * 8
        n = self.r.choice([0, 1, 2, 7, 8, 15, 31, 32, 63, 64, 65, 100, 199])
        return f'"{text[:n]}"', ('str', n + 1)

    def made_array(self, d):
        size = self.one(1, 2, 4, 8)
        of = self.one(*[s for s in (1, 2, 4, 8) if s <= size])
        word, kind = self.word(of)
        if self.chance(30):
            s, t = self.literal()
            return f'((int8[]){s})', ('arr', ('int', 's1'), t[1])
        return f'(({word}[{size // of}])({self.r.choice(SIZES[size])})({self.int(d + 1)}))', ('arr', ('int', kind), size // of)

    def tuple(self, d):
        parts = [self.value(d + 1) for _ in range(self.r.randint(1, 4))]
        parts = [p for p in parts if p[1]] or [('1', INT)]
        if self.chance(50):
            names = [f'f{i}' for i in range(len(parts))]
            return f'({", ".join(f"{n}={p[0]}" for n, p in zip(names, parts))})', \
                ('tup', tuple(zip(names, (p[1] for p in parts))))
        inner = ', '.join(p[0] for p in parts)
        return f'({inner}{"," if len(parts) == 1 else ""})', \
            ('tup', tuple((str(i), p[1]) for i, p in enumerate(parts)))

    def buffer(self, d):
        text, t = self.value(d + 1)
        if not t or t[0] not in ('str', 'arr', 'ptr', 'buf', 'int'):
            text = 'comm'
        n = self.one(None, '1', '3', '16', '100', f'(cpu + {self.int(d + 2)})')
        return f'buf({text}{"" if n is None else ", " + n})', ('buf', 1)

    def text(self, d):
        text, t = self.value(d + 1)
        if not t or t[0] not in ('str', 'ptr', 'int'):
            text = 'comm'
        n = self.one(None, '1', '7', '50', f'(cpu + {self.int(d + 2)})')
        s = f'str({text}{"" if n is None else ", " + n})'
        if self.chance(30):
            s = f'({s} + {self.string(d + 2)})'
        return s, ('str', 64)

    def string(self, d):
        return self.one('comm', self.literal()[0], f'str({self.int(d + 1)}, 8)')

    def block(self, d):
        if d > 2:
            return self.int(d), INT
        v = self.fresh()
        text, t = self.value(d + 1)
        self.scopes.append([(v, t)] if t else [])
        value, last = self.value(d + 1)
        stmts = f'{v} = {text}; '
        if self.chance(30):
            stmts += self.statement(1).replace('\n', ' ') + ' '
        self.scopes.pop()
        return f'({{ {stmts}{value} }})', last

    def choice(self, d):
        text, t = self.value(d + 1)
        if not t:
            return text, t
        other = self.like(t, text, d + 1)
        if self.chance(50):
            return f'({self.truth(d + 1)} ? {text} : {other})', t
        return f'(if ({self.truth(d + 1)}) {{ {text} }} else {{ {other} }})', t

    def address(self):
        known = [v for scope in self.scopes for v in scope if v[0].startswith('$') and v[1]]
        if not known:
            return 'curtask', TASK
        v, t = self.r.choice(known)
        return f'(&{v})', ('ptr', t)

    def like(self, t, text, d):
        known = [n for scope in self.scopes for n, k in scope if k == t]
        if known and self.chance(70):
            return self.r.choice(known)
        if t[0] == 'int':
            return self.int(d)
        if t[0] == 'bool':
            return self.truth(d)
        if t[0] == 'str':
            return self.string(d)
        if t[0] == 'struct':
            return f'*(({t[1]} *){self.base(d)})'
        if t[0] == 'ptr' and t[1] and t[1][0] in ('int', 'struct', 'ptr'):
            return f'(({self.spell(t)}){self.base(d)})'
        return text

    def value(self, d=0):
        """Returns (text, type); the type is None for a value without further operations."""
        text, t = self.start(d)
        for _ in range(self.r.choice([0, 1, 2, 3, 4, 6])):
            if not t or (t[0] == 'int' and not self.chance(20)):
                break
            text, t = self.step(text, t, d)
        return text, t

    def index(self, n, d):
        if n and self.chance(50):
            return str(self.r.randrange(n))
        return self.one('cpu', 'pid', 'rand', f'(uint8){self.one("rand", "nsecs")}', f'(cpu + {self.int(d + 2)})', '0', '0')

    def wrap(self, text):
        return text if text[0] in '($a' and not text.startswith('(enum') and ' ' not in text else f'({text})'

    def step(self, text, t, d):
        e = self.wrap(text) if t[0] in ('ptr', 'struct', 'arr', 'tup', 'buf', 'str') else text
        if t[0] == 'struct':
            return self.member(e, t[1], '.', t)
        if t[0] == 'ptr':
            return self.through(e, t, d)
        if t[0] == 'arr':
            if self.chance(10) and t[1] and t[1][0] == 'int':
                return f'((int8[]){e})' if self.chance(50) else f'(bool){e}', None
            return f'{e}[{self.index(t[2], d)}]', t[1]
        if t[0] == 'tup':
            name, kind = self.r.choice(t[1])
            return f'{e}.{name}', kind
        if t[0] == 'buf':
            return f'{e}[{self.one("0", self.index(0, d))}]', ('int', 'u1')
        if t[0] == 'str':
            return self.one((f'{e}[{self.index(t[1], d)}]', ('int', 's1')), (f'(string[{t[1] + self.one(1100, 1, 1200)}]){e}', None),
                            (f'({e} + {self.string(d + 1)})', ('str', t[1] + 16)), (text, t))
        if t[0] == 'int':
            return f'(({self.r.choice(SIZES[self.one(1, 2, 4, 8)])})({text}))', INT
        return text, t

    def member(self, e, name, how, t):
        members = self.members(name)
        if not members:
            return e, t
        m, kind, _ = self.r.choice(members)
        return f'{e}{how}{m}', kind

    def through(self, e, t, d):
        to = t[1]
        if to is None or (to[0] == 'struct' and not self.members(to[1])):
            return self.one((f'((uint64){e})', INT), (f'((uint32 *){e})', ('ptr', ('int', 'u4'))))
        kind = self.one('member', 'member', 'member', 'deref', 'deref', 'index', 'add', 'cast', 'address')
        if kind == 'member' and to[0] == 'struct':
            return self.member(e, to[1], self.one('->', '->', '.'), t)
        if kind == 'index':
            return f'{e}[{self.index(4, d)}]', to
        if kind == 'add':
            return f'({e} {self.one("+", "-")} {self.one("1", "3", self.int(d + 2))})', t
        if kind == 'cast':
            word, kind = self.word(self.one(1, 4, 8))
            return f'(({word} *){e})', ('ptr', ('int', kind))
        if kind == 'address' and to[0] == 'struct':
            where = [m for m in self.members(to[1]) if not m[2]]
            if where:
                name, inner, _ = self.r.choice(where)
                return f'(&{e}->{name})', ('ptr', inner)
        return f'(*{e})', to

    # ---- numbers ----------------------------------------------------------------------

    def int(self, d):
        if d > 4 or self.chance(35):
            return self.one('0', '1', '3', '63', 'pid', 'cpu', 'nsecs', 'rand', 'tid', '(0x7fffffffffffffff + cpu)', '(-1 * cpu)')
        return self.r.choice([
            lambda: self.number(d), lambda: self.number(d), lambda: self.number(d),
            lambda: f'({self.int(d + 1)}) {self.one("+", "-", "*", "&", "|", "^", ">>")} ({self.int(d + 1)})',
            lambda: f'({self.int(d + 1)}) {self.one("/", "%")} {self.one("7", "cpu", "nsecs")}',
            lambda: f'sizeof({self.one(self.struct(), self.value(d + 1)[0])})',
            lambda: self.offset(),
            lambda: f'({self.truth(d + 1)} ? {self.int(d + 1)} : {self.int(d + 1)})',
            lambda: f'(({self.r.choice(SIZES[self.one(1, 2, 4, 8)])})({self.int(d + 1)}))',
            lambda: f'~({self.int(d + 1)})', lambda: f'-(({self.int(d + 1)}) / 3)',
        ])()

    def offset(self):
        name = self.struct()
        members = [m for m in self.members(name) if not m[2]]
        return f'offsetof({name}, {self.r.choice(members)[0]})' if members else '0'

    def number(self, d):
        """Applies operations to a value until it is a number."""
        text, t = self.value(d + 1)
        for _ in range(8):
            if t and t[0] in ('int', 'bool', 'enum', 'ptr'):
                return f'({text})' if t[0] != 'ptr' else f'((uint64)({text}))'
            if not t:
                break
            text, t = self.step(text, t, d + 1)
        return 'pid'

    def truth(self, d):
        if d > 4:
            return 'true'
        return self.r.choice([
            lambda: f'({self.int(d + 1)}) {self.one("==", "!=", "<", ">", "<=", ">=")} ({self.int(d + 1)})',
            lambda: self.same(d), lambda: self.same(d),
            lambda: f'{self.string(d)} {self.one("==", "<", ">=")} {self.string(d)}',
            lambda: f'!({self.truth(d + 1)})',
            lambda: f'({self.truth(d + 1)}) {self.one("&&", "||")} ({self.truth(d + 1)})',
            lambda: self.one('true', 'false'),
        ])()

    def same(self, d):
        text, t = self.value(d + 1)
        if not t or t[0] in ('struct', 'buf', 'agg'):
            return '1'
        text = f'({text})'
        order = ('<', '>=') if t[0] in ('int', 'ptr', 'str') else ()
        return f'({text} {self.one("==", "!=", *order)} ({self.like(t, text, d + 1)}))'

    # ---- maps -----------------------------------------------------------------------

    def element(self, name, keys, d):
        return name + (f'[{", ".join(self.like(t, text, d) for text, t in keys)}]' if keys else '')

    def write(self):
        """A map is made by its first write, at the top level; its keys can be made anywhere."""
        if self.maps and self.chance(60):
            name, (keys, t) = self.r.choice(list(self.maps.items()))
            if t and t[0] == 'agg':
                return f'{self.element(name, keys, 2)} = {self.aggregation(t[1])};'
            if t and t[0] == 'int':
                return f'{self.element(name, keys, 2)} {self.one("=", "+=", "|=")} {self.int(2)};'
            if t and t[0] in ('struct', 'str', 'bool') or (t and t[0] == 'ptr' and t[1]):
                return f'{self.element(name, keys, 2)} = {self.like(t, "0", 2)};'
            return f'delete({self.element(name, keys, 2)});'
        name = f'@m{len(self.maps)}'
        keys = [k for k in (self.portable() for _ in range(self.r.choice([0, 0, 1, 1, 2, 3]))) if k[1]]
        if self.chance(25):
            t = ('agg', self.one('count', 'sum', 'min', 'max', 'avg', 'hist'))
            text = self.aggregation(t[1])
        else:
            text, t = self.value()
        line = f'{name}{"[" + ", ".join(k[0] for k in keys) + "]" if keys else ""} = {text};'
        self.maps[name] = (keys, t)
        return line

    def portable(self):
        """A value that can be written anywhere: it has no variables, and no arguments of the probe."""
        scopes, here = self.scopes, self.here
        self.scopes, self.here = [[]], []
        v = self.value(1)
        self.scopes, self.here = scopes, here
        return v

    def aggregation(self, kind):
        return 'count()' if kind == 'count' else f'{kind}({self.int(2)})'

    # ---- statements ---------------------------------------------------------------------

    def printf(self):
        parts, args = [], []
        for _ in range(self.r.randint(1, 4)):
            text, t = self.value()
            parts.append(self.one('%d', '%x', '%u') if t and t[0] == 'int' else '%s' if t and t[0] in ('str', 'tup', 'arr', 'struct')
                         else '%p' if t and t[0] == 'ptr' else '%r' if t and t[0] == 'buf' else '%d')
            args.append(text if parts[-1] != '%d' or (t and t[0] == 'int') else f'({self.int(1)})')
        return f'printf("{" ".join(parts)}\\n", {", ".join(args)});'

    def show(self):
        if self.here and self.chance(20) and self.here[-1] == ('args', None):
            return 'print(args);'
        return f'print({self.value()[0]});'

    def assign(self):
        text, t = self.value()
        v = self.fresh()
        line = f'{v} = {text};'
        self.scopes[-1].append((v, t))
        return line

    def change(self):
        known = [v for scope in self.scopes for v in scope if v[1] and v[0] not in self.fixed]
        if not known:
            return self.assign()
        v, t = self.r.choice(known)
        if t[0] in ('int', 'ptr') and self.chance(50):
            return self.one(f'{v}++;', f'--{v};', f'{v} += 1;' if t[0] == 'int' else f'{v}--;', f'print({v}++);')
        return f'{v} = {self.like(t, v, 2)};'

    def body(self, depth):
        self.scopes.append([])
        self.bodies += 1
        text = ' '.join(self.statement(depth + 1) for _ in range(self.r.randint(1, 3)))
        if self.chance(15):
            text += f' if ({self.truth(2)}) {{ {self.one("break", "continue", "return")}; }}'
        self.bodies -= 1
        self.scopes.pop()
        return f'{{ {text} }}'

    def loop(self, depth):
        kind = self.one('unroll', 'while', 'for')
        if kind == 'unroll':
            return f'unroll ({self.one(1, 2, 5, 30)}) {self.body(depth)}'
        v = self.fresh()
        self.fixed.add(v)
        if kind == 'for':
            self.scopes.append([(v, INT)])
            text = f'for ({v} : {self.one("0", "cpu")}..{self.one("3", "9", "100", "pid")}) {self.body(depth)}'
            self.scopes.pop()
            return text
        return f'{v} = 0; while ({v} < {self.one("3", "100", "pid")}) {{ {v}++; {self.body(depth)} }}'

    def branch(self, depth):
        self.scopes.append([])
        text = f'if ({self.truth(1)}) {{ {self.statement(depth + 1)} {self.statement(depth + 1)} }}'
        self.scopes[-1] = []
        if self.chance(40):
            text += f' else {{ {self.statement(depth + 1)} }}'
        self.scopes.pop()
        return text

    def statement(self, depth):
        if depth < 4 and self.chance(20):
            return self.loop(depth) if self.bodies < 3 and self.chance(50) else self.branch(depth)
        return self.r.choice([self.write, self.write, self.assign, self.assign, self.change, self.printf, self.show,
                              self.show])()

    def probe(self):
        points, self.here = self.r.choice(PROBES)
        self.scopes, self.bodies, self.fixed = [[]], 0, set()
        predicate = f' /{self.truth(1)}/' if self.chance(20) else ''
        lines = ''.join(f'\t{self.statement(0)}\n' for _ in range(self.r.randint(1, 6)))
        return f'{points}{predicate} {{\n{lines}}}\n'

    def script(self):
        c_part = self.c_part() if self.chance(self.c_parts) else ''
        return c_part + ''.join(self.probe() for _ in range(self.r.choice([1, 1, 2, 3])))


def script(seed, c_parts=20):
    maker = Typed(seed)
    maker.c_parts = c_parts
    return maker.script()


if __name__ == '__main__':
    import sys
    print(script(int(sys.argv[1])), end='')
