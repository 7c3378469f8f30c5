#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make.py - makes the corpus anew: frames of program.js in all installed versions of node, interpreted
and compiled, and of the recorded arm64 cores (../../unwind/cores: without columns), each with V8's own
account of it. A frame whose name differs from V8's is reported and omitted. Files with other names
were found by the fuzzer or made by hand.

    make.py CAPTURE [VERSION...]      CAPTURE: build/release/tests/fuzz/v8heap/capture; root, x86_64"""
import base64
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE / 'corpus'
CORES = HERE.parents[1] / 'unwind' / 'cores'
sys.path[:0] = [str(HERE.parents[1] / 'unwind' / 'v8'), str(HERE.parents[1] / 'unwind' / 'cores')]
import binaries
import waits
from maps import vlq
from run import known
from replay import unpack

AT = pathlib.Path('/tmp/v8heap')  # fixed, because the captures contain file names
# The map of mapped.js: the places of its function's name, and of its call.
MAP = base64.b64encode(json.dumps({
    'version': 3, 'sources': ['/from/source.ts'], 'names': ['original'],
    'mappings': f'{vlq(10, 0, 27, 2, 0)};{vlq(9, 0, 1, 2)}'}).encode()).decode()
MAPPED = 'original', '/from/source.ts', '29', '5'

OUTERMOST = '<anonymous>', 'internal/main/run_main_module'  # its text is an external string
STRINGS = ['named_cons', 'named_deep', 'named_thin', 'named_sliced', 'named_wide', 'имя', 'naïve', 'cons_text']
SHAPES = [*STRINGS, 'a.b.inferred', 'scoped', 'hashed', 'moved', 'evaluates', 'eval', 'map', 'still']
# Name, node's options (with their names in older versions), arguments of program.js, frames to keep.
RUNS = {
    'interpreted': ([('--no-opt', '--no-sparkplug'), ('--no-opt',)], ('account', 3), ['named_sliced', 'hashed', 'scoped']),
    'baseline': ([('--no-opt', '--no-maglev', '--always-sparkplug'), ('--no-opt', '--always-sparkplug')],
                 ('account', 30), ['hot']),
    'maglev': ([('--maglev', '--no-turbofan')], ('account', 6000), ['hot', 'still']),
    'optimized': ([()], ('account', 20000), ['hot', 'maps']),
    'lines': ([('--no-opt', '--no-sparkplug'), ('--no-opt',)], ('wait', 3), []),
    'mapped': ([()], ('wait', 3), []),
}
# More frames are kept of these versions.
THOROUGH = {'12', '26'}
MORE = {'interpreted': SHAPES, 'lines': ['имя', 'cons_text', 'eval', 'naïve', OUTERMOST], 'mapped': ['original']}
RECORDED = {'23-baseline': ['get got'], '150-spin': ['spin', 'toJSON'], '47-interpreted': ['Derived']}


def place(text):
    name, file, line, *column = text.split('\t')
    return name, file[7:] if file.startswith('file:///') else file, line, *column


def captured(new, capture, *args):
    """(number, place) of each frame."""
    out = subprocess.run([capture, *args], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in out.splitlines():
        number, text = line.split('\t', 1)
        yield f'{new}.{number}', place(text.replace('\t<anonymous>\t', '\t\t'))


def live(capture, node, options, how, new, maps):
    """Returns V8's own account of a run, and the captured frames."""
    with subprocess.Popen([node, *options, AT / 'program.js', *map(str, how)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=dict(os.environ, **({'MAP': MAP} if maps else {}))) as traced:
        account = []
        for line in traced.stdout:
            if line == b'there\n':
                break
            account = [place(text) for text in json.loads(line)]
        waits.asleep(traced.pid)
        try:
            frames = list(captured(new, capture, *['-m'] * maps, new, str(traced.pid)))
        finally:
            traced.kill()
    return account, frames


def recorded(capture, version, case, directory, new):
    core, root = directory / 'core', directory / 'root'
    core.write_bytes(lzma.decompress((CORES / f'node{version}-arm64.{case}.core.xz').read_bytes()))
    if not root.exists():
        unpack(CORES / f'node{version}-arm64.files.tar.xz', root)
    account = json.loads((CORES / f'node{version}-arm64.{case}.account').read_text())
    return [place(text) for text in account], list(captured(new, capture, new, core, root))


def agrees(account, found):
    return all(a in (b, '') for a, b in zip(account[:1], found)) and tuple(account[1:]) == tuple(found[1:len(account)])


def right_ones(what, account, frames):
    """Returns the files whose frames all have the names of V8; reports the others."""
    start = next(i for i, (_, found) in enumerate(frames) if found[0] == 'probe')
    good, bad = set(), set()
    for (file, found), own in zip(frames[start + 1:], account):
        if agrees(own, found):
            good.add(file)
        else:
            bad.add(file)
            print(f'{what}: V8 says {own}, strata {found}')
    if len(account) != len(frames) - start - 1:
        print(f'{what}: V8 says {len(account)} frames, strata {len(frames) - start - 1}')
    return good - bad


def plain(name):
    return re.sub('[^A-Za-z0-9]+', '_', name.replace('имя', 'wide_text').replace('ï', 'i'))


def keep(what, good, frames, wanted):
    for name in wanted:
        name, where = name if isinstance(name, tuple) else (name, '')
        files = [file for file, found in frames if found[0] == name and where in found[1] and file in good]
        if not files:
            print(f'{what}: no {name}')
            continue
        name = name if not where else pathlib.Path(where).name
        shutil.copyfile(files[0], CORPUS / f'{what}-{plain(name)}')


def make_live(capture, version, directory):
    node, account_before = str(binaries.node(version)), []
    for what, (choices, how, wanted) in RUNS.items():
        wanted = MORE.get(what, wanted) if version in THOROUGH else wanted
        options = known(node, choices)
        if options is None or not wanted:
            continue
        name = f'node{version}-x86_64-{what}'
        maps = what == 'mapped'
        account, frames = live(capture, node, options, how, str(directory / name), maps)
        if maps:
            good = {file for file, found in frames if found == MAPPED}
        else:
            account_before = account or account_before
            good = right_ones(name, account or account_before, frames)
        keep(name, good, frames, wanted)


def make_recorded(capture, version, directory):
    for case, wanted in RECORDED.items():
        name = f"node{version}-arm64-{case.partition('-')[2]}"
        account, frames = recorded(capture, version, case, directory, str(directory / name))
        good = right_ones(name, account, frames)
        good |= {file for file, found in frames if found[0] == 'spin'}  # these runs have no account of V8
        keep(name, good, frames, wanted)


def main(capture, *versions):
    AT.mkdir(exist_ok=True)
    shutil.copy2(HERE / 'program.js', AT)
    for version in versions or binaries.VERSIONS:
        for old in CORPUS.glob(f'node{version}-*'):
            old.unlink()
        with tempfile.TemporaryDirectory() as directory:
            make_live(capture, version, pathlib.Path(directory))
            if list(CORES.glob(f'node{version}-arm64.*.core.xz')):
                make_recorded(capture, version, pathlib.Path(directory))
    files = list(CORPUS.iterdir())
    print(f'{len(files)} files, {sum(f.stat().st_size for f in files)} bytes')


if __name__ == '__main__':
    main(*sys.argv[1:])
