# SPDX-License-Identifier: Apache-2.0
"""btf.py - reads the structs of the running kernel, as types of typed.py.

Types: ('int', 'u8': sign and size), ('bool',), ('enum', name), ('ptr', T or None), ('arr', T, n), ('struct', name),
('str', n). Members of a struct: (path, T, is a bit-field); those of unnamed members count as its own."""
import functools
import struct

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT = range(1, 12)
VAR, FUNC, FUNC_PROTO, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = 14, 12, 13, 15, 16, 17, 18, 19


class Btf:
    def __init__(self, path='/sys/kernel/btf/vmlinux'):
        with open(path, 'rb') as f:
            data = f.read()
        _, _, _, head, types, type_len, strings, _ = struct.unpack_from('<HBBIIIII', data)
        self.data, self.strings, self.at = data, head + strings, [0]
        self.structs, at, end = {}, head + types, head + types + type_len
        while at < end:
            name, info, _ = struct.unpack_from('<III', data, at)
            n, kind = info & 0xffff, info >> 24 & 31
            if kind in (STRUCT, UNION) and name and n:
                self.structs[f'{"struct" if kind == STRUCT else "union"} {self.name(name)}'] = len(self.at)
            self.at.append(at)
            at += 12 + {INT: 4, ARRAY: 12, STRUCT: 12 * n, UNION: 12 * n, ENUM: 8 * n, FUNC_PROTO: 8 * n,
                        VAR: 4, DATASEC: 12 * n, DECL_TAG: 4, ENUM64: 12 * n}.get(kind, 0)

    def name(self, at):
        at += self.strings
        return self.data[at:self.data.index(b'\0', at)].decode()

    def head(self, i):
        name, info, size = struct.unpack_from('<III', self.data, self.at[i])
        return name, info >> 24 & 31, info & 0xffff, info >> 31, size

    def type(self, i):
        """Returns the type, or None if it has no name in a script."""
        if not i:
            return None
        name, kind, _, _, size = self.head(i)
        if kind in (TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG):
            return self.type(size)
        if kind == INT:
            signed = self.data[self.at[i] + 15] & 1
            return ('bool',) if self.name(name) == '_Bool' else ('int', f'{"s" if signed else "u"}{size}', self.name(name)) \
                if self.name(name) == 'char' else ('int', f'{"s" if signed else "u"}{size}')
        if kind == PTR:
            return ('ptr', self.type(size))
        if kind == ARRAY:
            of, _, n = struct.unpack_from('<III', self.data, self.at[i] + 12)
            of = self.type(of)
            return ('str', n) if n and of and of[2:] == ('char',) else ('arr', of, n)
        if kind in (STRUCT, UNION):
            return ('struct', f'{"struct" if kind == STRUCT else "union"} {self.name(name)}') if name else None
        return ('enum', f'enum {self.name(name)}') if kind in (ENUM, ENUM64) and name else None

    @functools.cache
    def members(self, which):
        """Returns the members of 'struct NAME', or [] if it does not exist."""
        return self.members_of(self.structs[which]) if which in self.structs else []

    def members_of(self, i, depth=0):
        _, _, n, flags, _ = self.head(i)
        found = []
        for k in range(n):
            name, t, at = struct.unpack_from('<III', self.data, self.at[i] + 12 + 12 * k)
            bits = flags and at >> 24
            inner = self.plain(t)
            if not name:
                if self.head(inner)[1] in (STRUCT, UNION) and depth < 5:
                    found += self.members_of(inner, depth + 1)
                continue
            mine = self.type(t)
            if mine or self.head(inner)[1] == PTR:
                found.append((self.name(name), mine or ('ptr', None), bool(bits)))
        return found

    def plain(self, i):
        while i and self.head(i)[1] in (TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG):
            i = self.head(i)[4]
        return i
