# SPDX-License-Identifier: Apache-2.0
"""tree.py - the files of src/ and bpf/, their folders, and the files that they include."""
import pathlib
import posixpath
import re

QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)
ANGLED = re.compile(r'^[ \t]*#[ \t]*include[ \t]+<([^>]+)>', re.M)
SOURCES = ('.c', '.h', '.l', '.y')
COUNTED = SOURCES + ('.def',)


class Tree:
    def __init__(self, top):
        self.top = pathlib.Path(top).resolve()
        self.text = {}  # path below top -> text
        for folder in ('src', 'bpf'):
            for path in sorted((self.top / folder).rglob('*')):
                if path.suffix in COUNTED and path.is_file():
                    self.text[str(path.relative_to(self.top))] = path.read_text()

    def files(self, *folders):
        for name, text in self.text.items():
            if name.startswith(tuple(folder + '/' for folder in folders)) and name.endswith(SOURCES):
                yield name, text

    def found(self, name, include):
        """Returns the file that an include of the file `name` refers to; None: generated, or the system's."""
        for near in (posixpath.dirname(name) + '/', 'src/', ''):
            path = posixpath.normpath(near + include)
            if path in self.text:
                return path
        return None


def folder_of(name):
    """src/types/c_int.c -> types, src/main.c -> src, bpf/lib/who.h -> bpf"""
    parts = name.split('/')
    if parts[0] == 'src':
        return parts[1] if len(parts) > 2 else 'src'
    return parts[0]


def room_of(name):
    """src/unwinders/go/go.c -> src/unwinders, bpf/lib/who.h -> bpf/lib, src/main.c -> src"""
    return '/'.join(name.split('/')[:-1][:2])
