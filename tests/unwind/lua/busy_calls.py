# SPDX-License-Identifier: Apache-2.0
"""busy_calls.py - the chains of calls that busy.lua can have."""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
STACK = re.compile(r'^@\[\n(.*?)\n\]: (\d+)$', re.M | re.S)
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|\S+$')
LIBRARY = ('table.sort', 'string.gsub', 'pcall', 'error', 'tostring', 'coroutine.resume', 'coroutine.yield', '[C]')
CALLS = {
    'main chunk': {'work'},
    'work': {'sorted', 'replaced', 'protected', 'caught', 'overloaded', 'resumed', 'recurse', 'leaf'},
    'sorted': {'table.sort'}, 'table.sort': {'by'}, 'by': {'leaf'},
    'replaced': {'string.gsub'}, 'string.gsub': {'each'}, 'each': {'leaf'},
    'protected': {'pcall'}, 'caught': {'pcall'}, 'pcall': {'inner', 'fails'}, 'inner': {'leaf'},
    'fails': {'leaf', 'error'},
    'overloaded': {'meta.index', 'meta.add', 'meta.less', 'tostring', 'meta.text'}, 'tostring': {'meta.text'},
    'meta.index': {'leaf'}, 'meta.add': {'leaf'}, 'meta.less': {'leaf'}, 'meta.text': {'leaf'},
    'resumed': {'coroutine.resume'}, 'coroutine.resume': {'body'}, 'body': {'leaf', 'pcall', 'coroutine.yield'},
    'recurse': {'recurse', 'leaf'},
}
ALL = set(CALLS) - {'pcall', 'tostring', 'coroutine.resume', 'table.sort', 'string.gsub'} | {'leaf'}


def lines_of():
    """Returns the range of lines of each function."""
    text = (HERE / 'busy.lua').read_text().split('\n')
    found = {'main chunk': (1, len(text))}
    for number, line in enumerate(text, 1):
        name = re.match(r'(?:local )?function ([\w.]+)', line)
        if name:
            found[name.group(1)] = number, number + text[number - 1:].index('end')
    return found


LINES = lines_of()


def judge(text):
    """Returns 'whole', 'marked', or the error."""
    frames = [line.strip() for line in text.split('\n')]
    if re.match(r'\[\w+[ :]', frames[-1]):
        return f'marked: {frames[-1]}'
    caller = None
    for frame in reversed(frames):
        found = re.match(r'(main chunk|[\w.]+) \S*busy\S*\.lua(?::~?(\d+)(-\d+)?)?$', frame)
        name = found.group(1) if found else frame if frame in LIBRARY else None
        if not name:
            if not NATIVE.match(frame):
                return f'unknown: {frame}'
            continue
        if found:
            first, last = LINES.get(name, (0, 0))
            if not first <= int(found.group(2) or first) <= last:
                return f'line: {frame}'
        if name == '[C]' and not caller:
            continue  # the function that runs the program
        if not caller:
            if name != 'main chunk':
                return f'{name} is the first'
        elif name not in CALLS.get(caller, ()) and not (found is None and caller not in ('work', 'leaf')):
            return f'{name} called by {caller}'
        caller = name
    return 'whole' if caller else 'no frame of Lua'
