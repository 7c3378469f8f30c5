#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""viewers.py STRATA - our files in other programs: go tool pprof (-top, -peek, -svg) and speedscope's web application, from
npm, in headless Chromium. Prints TAP."""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
for part in 'lib', 'unwind/go', 'unwind/v8':
    sys.path.append(str(TESTS / part))
import absent
import binaries
import browser
import recordings
import tap
import toolchains
from recordings import Recording, show

STRATA = os.path.realpath(sys.argv[1])
GO = '1.19' # the last version whose package has a built pprof


def pprof(home, *args):
    root = toolchains.goroot(GO)
    env = dict(os.environ, HOME=str(home), GOROOT=str(root), PPROF_TMPDIR=str(home), TZ='UTC')
    done = subprocess.run([root / 'bin' / 'go', 'tool', 'pprof', '-nodecount=0', '-nodefraction=0', '-edgefraction=0', *map(str, args)],
                          capture_output=True, text=True, env=env, timeout=120)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def top(text):
    totals = recordings.Totals()
    for flat, cum, name in re.findall(r'^ *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+%  (.*)$', text, re.M):
        totals.own[name.strip()] += int(flat)
        totals.all[name.strip()] += int(cum)
    return totals


def of_pprof(cases, home):
    r = Recording()
    r.map('', key=({'label': 'comm'}, {'label': 'stack', 'mode': 'func'}))
    serve = r.frame('main.serve', 'go', module='/bin/app', build_id='11' * 20, address=4096)
    cgo = r.frame('compute', module='/lib/libcompute.so', build_id='22' * 20, address=64)
    cpp = r.frame('ns::work<int>(char const*)', module='/lib/libcompute.so', build_id='22' * 20, address=128)
    handle = r.frame('handle', 'python', file='/srv/app.py', line=3)
    recurse = r.frame('recurse', 'python', file='/srv/app.py', line=9)
    r.entry(['app', [cpp, cgo, serve]], 31)
    r.entry(['app', [cgo, serve]], 7)
    r.entry(['app', [serve]], 500)
    r.entry(['python3', [recurse, recurse, handle, cgo]], 60)
    r.entry(['python3', [handle]], 2)
    path = r.write(home / 'p.json')
    show(STRATA, path, '-o', home / 'p.pb.gz')
    want = recordings.of_text(show(STRATA, path))
    seen = top(pprof(home, '-top', home / 'p.pb.gz'))
    cases.check(+seen.own == +want.own and +seen.all == +want.all, 'pprof -top has the numbers of our text', seen.all, want.all,
                seen.own, want.own)
    seen = top(pprof(home, '-top', '-tagfocus=comm=python3', home / 'p.pb.gz'))
    cases.check(seen.all['handle /srv/app.py'] == 62 and 'main.serve' not in +seen.all, 'labels can be selected', seen.all)
    peek = pprof(home, '-peek', 'compute', home / 'p.pb.gz')
    cases.check(re.search(r'^ +38 38.78% \| +main.serve$', peek, re.M) and re.search(r'^ +60 61.22% \| +recurse|^ +60 .*\| +handle', peek, re.M),
                'pprof -peek: who calls and is called', peek)
    raw = pprof(home, '-raw', home / 'p.pb.gz')
    cases.check('11' * 20 in raw and '/lib/libcompute.so' in raw and re.search(r'comm:\[app\]', raw), 'build ids and labels', raw)
    large = recordings.forest(home / 'f.json', 3000)
    show(STRATA, large, '-o', home / 'f.pb.gz')
    seen, want = top(pprof(home, '-top', home / 'f.pb.gz')), recordings.of_recording(large.read_bytes())
    cases.check(+seen.own == +want.own and +seen.all == +want.all, 'of 3,000 stacks, too')
    if shutil.which('dot'):
        svg = pprof(home, '-svg', '-output', home / 'p.svg', home / 'p.pb.gz') or (home / 'p.svg').read_text()
        cases.check('ns::work' in svg and 'handle' in svg and '500' in svg, 'pprof -svg draws them', svg[:2000])
    else:
        cases.check('CI' not in os.environ, 'pprof -svg # SKIP there is no graphviz')


SEEN = '''(() => {
    const text = document.body.innerText;
    return text.includes('Sandwich') && text.includes('Left Heavy') ? text : null;
})()'''


def speedscope(cases, home):
    root = binaries.unpacked('speedscope', binaries.from_npm('speedscope', 'dist/release')) / 'release'
    path = recordings.mixed(home / 'm.json')
    data = base64.b64encode(show(STRATA, path, '-f', 'speedscope')).decode()
    (home / 'load.js').write_text(f'speedscope.loadFileFromBase64("x.speedscope.json", {json.dumps(data)})')
    with browser.Browser() as b:
        b.open(f'{(root / "index.html").as_uri()}#localProfilePath={home}/load.js')
        text = b.wait(SEEN)
        cases.check('(1/4)' in text and '@' in text, "speedscope's own program opens it: four profiles", text)
        b.eval('[...document.querySelectorAll("div")].filter(d => d.innerText && d.innerText.endsWith("Sandwich") && !d.children.length)'
               '.concat([...document.querySelectorAll("*")].filter(e => e.childElementCount < 2 && /Sandwich$/.test(e.textContent)))[0].click()')
        text = b.wait('document.body.innerText.includes("onRequest") && document.body.innerText')
        cases.check('onRequest /srv/a.js' in text and 'handler /srv/app.py' in text, '..and lists the functions', text)
        rows = b.eval('[...document.querySelectorAll("tr")].map(r => [...r.cells].map(c => c.innerText.trim()))')
        seen = {row[2]: [re.sub(r' \(.*', '', part) for part in row[:2]] for row in rows if '%' in row[0]}
        want = {'onRequest /srv/a.js': ['100', '100'], 'main': ['116', '0'], 'handler /srv/app.py': ['16', '11'],
                'handler /srv/other.py': ['11', '0'], 'fast': ['5', '0'], 'do_syscall_64': ['8', '8']}
        cases.check(want.items() <= seen.items(), '..with our numbers', rows)
        cases.check(not b.errors, '..without an error', b.errors)


def main():
    cases = tap.Cases()
    try:
        with tempfile.TemporaryDirectory() as home:
            of_pprof(cases, pathlib.Path(home))
            if not browser.PROGRAM:
                raise absent.Missing('there is no Chromium')
            speedscope(cases, pathlib.Path(home))
    except (absent.Missing, OSError) as why:
        cases.check('CI' not in os.environ, f'viewers # SKIP {why}')
    return cases.done()


sys.exit(main())
