# SPDX-License-Identifier: Apache-2.0
"""wider.py - the parts of the language beyond statements, values and maps: macros, records, blocks and ifs
as values, loops over maps, declared maps, time series, and results of functions."""

CLOCKS = ['boot', 'monotonic', 'sw_tai']
DURATIONS = ['1ns', '5us', '20ms', '3s']
DECLARED = ['hash', 'lruhash', 'percpuhash', 'percpulruhash']
SERIES = ['', ', "min"', ', "max"', ', "avg"', ', "sum"']

# The text of each, the types of its arguments, and of its value. '$' and '@' mark arguments that it changes.
MACROS = [
    ('macro twice(x) {{ (int64)x + x }}', ['int'], 'int'),
    ('macro clamp(x, low, high) {{ let $v: int64 = (int64)x; if ($v < low) {{ $v = (int64)low; }} '
     'if ($v > high) {{ $v = (int64)high; }} $v }}', ['int', 'int', 'int'], 'int'),
    ('macro either(c, a, b) {{ if (c) {{ (int64)a }} else {{ (int64)b }} }}', ['bool', 'int', 'int'], 'int'),
    ('macro same(a, b) {{ a == b }}', ['int', 'int'], 'bool'),
    ('macro bump($x) {{ $x += 1; }}', ['$'], None),
    ('macro note(@m, x) {{ @m = (int64)x; }}', ['@', 'int'], None),
    ('macro nested(x) {{ let $y = twice(x); $y * 2 }}', ['int'], 'int'),
]


class Wider:
    """Extends generate.Maker, which knows types, scopes and maps."""

    def make_macros(self):
        """A macro may call one that stands before it."""
        self.macros = MACROS if self.chance(40) else []
        return ''.join(text.format() + '\n' for text, _, _ in self.macros)

    def macro_call(self, t):
        fitting = [(text, kinds) for text, kinds, value in self.macros if value == t]
        if not fitting:
            return self.number() if t == 'int' else 'true'
        text, kinds = self.r.choice(fitting)
        return f'{text.split()[1].split("(")[0]}({", ".join(self.value(k, 3) for k in kinds)})'

    def macro_statement(self):
        names = [n for n in self.variables('int') if n not in self.loop_vars and n not in self.typed]
        maps = [m for m in self.maps if m.value == 'int' and not m.keys]
        if self.macros and names and self.chance(50):
            return f'bump({self.r.choice(names)})'
        if self.macros and maps:
            return f'note({self.r.choice(maps).name}, {self.int(2)})'
        return self.printf()

    # ---- values ----------------------------------------------------------------------

    def wide_int(self, depth):
        d = depth + 1
        return self.r.choice([
            lambda: self.macro_call('int'),
            lambda: f'({{ let {self.fresh()} = {self.int(d)}; {self.int(d)} }})',
            lambda: f'(if ({self.bool(d)}) {{ {self.int(d)} }} else {{ {self.int(d)} }})',
            lambda: f'(a={self.int(d)}, b={self.str(d)}).a',
            lambda: f'({self.int(d)}, {self.bool(d)}, comm).0',
            lambda: f'bswap(({self.one("uint16", "uint32", "uint64")}){self.paren(d)})',
            lambda: f'nsecs({self.one(*CLOCKS)})',
            lambda: self.one(*DURATIONS),
            lambda: f'{self.one("pid", "tid")}({self.one("init", "curr_ns")})',
            lambda: self.one('numaid', 'ppid', 'usermode', '(uint64)curtask', 'jiffies'),
            lambda: f'strncmp({self.str_place(d)}, {self.text()}, {self.small()})',
            lambda: f'(comptime ({self.small()} * {self.small()} + sizeof(int64)))',
            lambda: f'offsetof(struct task_struct, {self.one("pid", "comm", "mm")})',
            lambda: f'curtask.{self.one("pid", "tgid", "prio", "mm.total_vm", "parent.tgid", "signal.nr_threads")}',
        ])()

    def wide_bool(self, depth):
        return self.r.choice([
            lambda: self.macro_call('bool'),
            lambda: f'strcontains(comm, {self.text()})',
            lambda: f'((a={self.int(depth + 1)}, b=comm) == (a=1, b="x"))',
            lambda: f'({{ {self.bool(depth + 1)} }})',
        ])()

    def wide_str(self, depth):
        return self.r.choice([
            lambda: f'(comm + {self.text()})',
            lambda: f'(if ({self.bool(depth + 1)}) {{ comm }} else {{ "none" }})',
            lambda: f'(a=comm, b={self.int(depth + 1)}).a',
            lambda: f'str({self.one("curtask.comm", "curtask.group_leader.comm")})',
        ])()

    def printed(self):
        """Returns (conversion, argument) for a value that only print() and printf() take."""
        return self.r.choice([
            lambda: ('%s', f'strerror({self.int(2)})'),
            lambda: ('%s', f'strftime("%H:%M:%S.%f", {self.one("nsecs", "nsecs(monotonic)", self.paren(2))})'),
            lambda: ('%s', f'ntop((uint32){self.paren(2)})'),
            lambda: ('%r', f'buf(curtask, {self.one("8", "16", "(uint64)cpu")})'),
            lambda: ('%s', f'macaddr(((struct ethhdr *)curtask).h_source)'),
            lambda: ('%s', self.one('cgroup_path(cgroup)', 'usym(1)', 'ksym(kaddr("vfs_read"))')),
            lambda: ('%p', self.one('curtask', 'kaddr("vfs_read")')),
            lambda: ('%s', f'(a={self.int(2)}, b=({self.str(2)}, {self.bool(2)}))'),
        ])()

    # ---- statements --------------------------------------------------------------------

    def wide_statement(self):
        return self.r.choice([
            self.macro_statement,
            lambda: f'{self.one("errorf", "warnf")}("{self.one("%d", "%x", "at %d")}", {self.int(2)})',
            lambda: f'time("{self.one("%H:%M:%S", "%s", "")}\\n")' ,
            lambda: f'@series = tseries({self.int(2)}, 100ms, 5{self.one(*SERIES)})',
            lambda: f'@best = max({self.int(2)})',
            lambda: 'print({})'.format(self.printed()[1]),
            lambda: f'if comptime ({self.small()} > {self.small()}) {{ {self.printf()}; }} else {{ {self.printf()}; }}',
            lambda: f'_ = {self.wide_int(1)}',
        ])()

    def over_map(self, indent):
        """Uses the keys and values in the loop's tuple."""
        maps = [m for m in self.maps if m.keys and all(k in ('int', 'str', 'bool') for k in m.keys)
                and (m.value in ('int', 'str', 'bool'))]
        if not maps:
            return self.branch(indent)
        m, name = self.r.choice(maps), self.fresh()
        key = m.keys[0] if len(m.keys) == 1 else tuple(m.keys)
        self.scopes.append([(name, (key, m.value))])
        self.loop_vars.add(name)
        text = f'for ({name} : {m.name}) {self.body(indent)}'
        self.scopes.pop()
        return text

    def declared(self):
        """Makes declared maps, and a probe that writes to them."""
        kinds = [self.one(*DECLARED) for _ in range(self.r.randint(1, 3))]
        text = ''.join(f'let @d{i} = {kind}({self.one("1", "10", "5000")});\n' for i, kind in enumerate(kinds))
        writes = ''.join(f'\t@d{i}[{self.one("pid", "1")}] = {"count()" if "percpu" in kind else "nsecs"};\n'
                         for i, kind in enumerate(kinds))
        return text, f'{self.one("interval:s:1", "tracepoint:sched:sched_switch")} {{\n{writes}}}\n'
