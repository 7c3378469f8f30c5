#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser_test.py STRATA [--pictures DIR] - flame graphs and pages in headless Chromium: widths, hover, zoom, search,
keys, tabs, tables; hostile names; light and dark; 1 to 100,000 stacks. Prints TAP."""
import json
import os
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import absent
import browser
import recordings
import tap
from recordings import HOSTILE, Recording, show

STRATA = os.path.realpath(sys.argv[1])
IS_FAST = '--slow' not in sys.argv
PICTURES = pathlib.Path(sys.argv[sys.argv.index('--pictures') + 1]) if '--pictures' in sys.argv else None


def simple(home):
    """main calls a (60), b (30) and works 10 itself; a calls leaf from two lines."""
    r = Recording()
    r.map('', key=({'label': 'comm'}, {'label': 'stack', 'mode': 'func'}))
    of = {'kind': 'python', 'file': '/srv/app.py'}
    main, a, b = (r.frame(n, line=i + 1, **of) for i, n in enumerate(('main', 'a', 'b')))
    leaf7, leaf9 = r.frame('leaf', line=7, **of), r.frame('leaf', line=9, **of)
    kernel = r.frame('do_sys', 'kernel', module='kernel', address=1)
    r.entry(['app', [leaf7, a, main]], 40)
    r.entry(['app', [leaf9, a, main]], 20)
    r.entry(['app', [kernel, b, main]], 30)
    r.entry(['app', [main]], 9)
    r.lines.append(json.dumps({'key': ['app', {'frames': [main], 'end': 'limit reached'}], 'value': [1]}))
    return r.write(home / 'simple.json')


def picture(b, name):
    if PICTURES:
        for dark in False, True:
            b.dark(dark)
            b.eval('new Promise(done => setTimeout(done, 150))')
            b.screenshot(PICTURES / f'{name}-{"dark" if dark else "light"}.png')
        b.dark(False)


# Frames by name: [x, width] in parts of the graph's width; and the frame's element.
FRAMES = '''(() => {
    const svg = document.querySelector('.chosen svg.flame, svg.flame:root'), all = svg.querySelector('.frames').getBoundingClientRect();
    return [...svg.querySelectorAll('.f')].map(f => {
        const r = f.querySelector('rect').getBoundingClientRect(), t = f.querySelector('text');
        return [t ? t.textContent : '', (r.x - all.x) / all.width, r.width / all.width, r.y];
    });
})()'''


def frame(name):
    return f'[...document.querySelectorAll(".f")].find(f => f.textContent.startsWith({json.dumps(name)})).querySelector("rect")'


def now(b):
    return b.eval('document.querySelector(".now").textContent')


def near(x, y):
    return abs(x - y) < 0.004


def svg(cases, b, home):
    (home / 'simple.svg').write_bytes(show(STRATA, home / 'simple.json', '-f', 'svg'))
    b.open(home / 'simple.svg')
    picture(b, 'svg')
    widths = {name.split(' ')[0]: w for name, _, w, _ in b.eval(FRAMES)}
    want = {'all': 1, 'app': 1, 'a': .6, 'b': .3, 'leaf': .6, 'do_sys': .3}
    cases.check(all(near(widths.get(k, 9), v) for k, v in want.items()), 'svg: widths are the counts', widths)
    mains = sorted(round(w, 2) for name, _, w, _ in b.eval(FRAMES) if name.startswith('main'))
    cases.check(mains == [.99] or mains == [.01, .99], '..of a function below a reason, too', mains)
    b.hover(frame('a '))
    cases.check('a /srv/app.py — 60 (60.00 %), self 0 — Python' in now(b), 'svg: hover has exact numbers', now(b))
    b.click(frame('a '))
    widths = {name.split(' ')[0]: w for name, _, w, _ in b.eval(FRAMES)}
    cases.check(near(widths['a'], 1) and near(widths['leaf'], 1) and 'b' not in widths and near(widths['main'], 1),
                'svg: a click zooms', widths)
    cases.check('60.00 %' in now(b), '..and says so', now(b))
    b.key('Backspace')
    cases.check('main' in now(b) and any(f[0].startswith('b ') for f in b.eval(FRAMES)), 'svg: Backspace: the caller', now(b))
    b.key('Escape')
    cases.check(now(b).startswith('all — 100 (100 %)'), 'svg: Escape: back to the whole', now(b))
    b.eval('window.prompt = () => "^(a|b) "')
    b.key('/')
    found = b.eval('document.querySelector(".found").textContent')
    cases.check('90.00 % in 2 places' in found and b.eval('document.querySelectorAll(".hit").length') == 2, 'svg: search', found)
    b.eval('window.prompt = () => "("')
    b.click('document.querySelector(".search")')
    cases.check('regular' in b.eval('document.querySelector(".found").textContent').lower(), 'svg: an invalid pattern',
                b.eval('document.querySelector(".found").textContent'))
    b.click('document.querySelector(".reset")')
    cases.check(b.eval('document.querySelector(".found").textContent') == '', 'svg: reset')
    for key, text in ('ArrowUp', 'app'), ('ArrowUp', 'main'), ('ArrowUp', 'a '), ('ArrowRight', 'b '), ('ArrowLeft', 'a '), ('ArrowDown', 'main'):
        b.key(key)
        cases.check(now(b).startswith(text), f'svg: {key}: {text}', now(b))
    above = b.eval(FRAMES)
    b.key('i')
    below = b.eval(FRAMES)
    order = [[f[0] for f in sorted(list, key=lambda f: f[3])] for list in (above, below)]
    cases.check(order[0][0] != order[1][0] and order[1][0] == 'all', 'svg: i: icicle', order)
    b.key('l')
    leaves = sorted((name, round(w, 2)) for name, _, w, _ in b.eval(FRAMES) if name.startswith('leaf'))
    cases.check(leaves == [('leaf /srv/app.py:7', .4), ('leaf /srv/app.py:9', .2)], 'svg: l: by line', leaves)
    b.click('document.querySelector(".lines")')
    cases.check(sum(f[0].startswith('leaf') for f in b.eval(FRAMES)) == 1, '..and by function again')
    legend = b.eval('document.querySelector(".legend").textContent').split()
    cases.check({'key', 'kernel', 'Python', 'end'} <= set(legend), 'svg: a legend', legend)
    grey = b.eval('[...document.querySelectorAll(".f")].map(f => f.querySelector("rect").getAttribute("fill")).join()')
    cases.check(any(c in grey for c in ('#a7a9ad', '#b3b5b9', '#9a9ca1')), 'svg: reasons are grey', grey)
    cases.check(not b.errors, 'svg: no error', b.errors)


def colours(cases, b, home):
    """Text can be read: its colour differs from the background."""
    code = '''(() => {
        const light = c => { const m = c.match(/[\\d.]+/g).map(Number); return .299 * m[0] + .587 * m[1] + .114 * m[2]; };
        const now = document.querySelector('.now'), f = document.querySelector('.f text'), r = f.parentNode.querySelector('rect');
        const back = getComputedStyle(document.querySelector('svg.flame')).backgroundColor;
        return [light(getComputedStyle(now).fill) - light(back), light(getComputedStyle(f).fill) - light(getComputedStyle(r).fill), light(back)];
    })()'''
    for name in 'simple.svg', 'simple.html':
        b.open(home / name)
        for dark in False, True:
            b.dark(dark)
            text, named, back = b.eval(code)
            cases.check(abs(text) > 90 and abs(named) > 90 and (back < 60 if dark else back > 200),
                        f'{name}: {"dark" if dark else "light"} is legible', text, named, back)
    b.dark(False)


def page(cases, b, home):
    (home / 'simple.html').write_bytes(show(STRATA, home / 'simple.json', '-f', 'html'))
    b.open(home / 'simple.html')
    picture(b, 'html')
    rows = b.eval('[...document.querySelectorAll(".hottest tbody tr")].map(r => [...r.cells].map(c => c.textContent))')
    cases.check(rows[0] == ['main /srv/app.py', '100.00 %', '10.00 %', '100'], 'html: the hottest functions', rows)
    b.click('[...document.querySelectorAll(".hottest th")].find(h => h.textContent === "self")')
    rows = b.eval('[...document.querySelectorAll(".hottest tbody tr")].map(r => r.cells[0].textContent + r.cells[2].textContent)')
    cases.check(rows[0] == 'leaf /srv/app.py60.00 %', 'html: sorted by self', rows)
    b.click('[...document.querySelectorAll(".hottest tbody tr")].find(r => r.dataset.name.startsWith("a "))')
    around = b.eval('["callers", "callees"].map(c => [...document.querySelectorAll("." + c + " tbody tr")].map(r => '
                    '[r.cells[0].textContent, r.cells[2].textContent]))')
    cases.check(around == [[['main /srv/app.py', '60']], [['leaf /srv/app.py', '60']]], 'html: callers and callees', around)
    picture(b, 'html-around')
    b.eval('(() => { const i = document.querySelector("input"); i.value = "leaf|do_sys"; i.dispatchEvent(new Event("input")); })()')
    cases.check(b.eval('document.querySelectorAll(".hottest tbody tr").length') == 2 and
                b.eval('document.querySelectorAll(".hit").length') == 2, 'html: the filter highlights, too')
    (home / 'm.html').write_bytes(show(STRATA, recordings.mixed(home / 'm.json'), '-f', 'html'))
    b.open(home / 'm.html')
    tabs = b.eval('[...document.querySelectorAll("nav button")].map(t => t.textContent)')
    cases.check(tabs == ['@', '@bytes', '@us', '@h'], 'html: a tab for each map', tabs)
    b.click('document.querySelectorAll("nav button")[1]')
    text = b.eval('document.querySelector(".tab.chosen .now").textContent')
    cases.check(text.startswith('all — 8,210 bytes (100 %)'), 'html: another tab', text)
    cases.check(b.eval('document.querySelectorAll(".tab").length') == 4 and not b.errors, 'html: no error', b.errors)


def hostile(cases, b, home):
    r = Recording()
    r.map('<b>"&m', key=({'label': '<k>'}, {'label': 'stack', 'mode': 'func'}))
    for i, name in enumerate(HOSTILE):
        r.entry([name, [r.frame(name, 'python', file=name), r.frame('INVALID', module=name)]], 10 + i)
    r.write(home / 'hostile.json', invalid=True)
    for kind in 'svg', 'html':
        out = home / f'hostile.{kind}'
        out.write_bytes(show(STRATA, home / 'hostile.json', '-f', kind))
        b.dialogs = 0
        b.open(out)
        b.wait('document.querySelectorAll(".f").length > 20')
        texts = ' '.join(b.eval('[...document.querySelectorAll(".f text")].map(t => t.textContent)'))
        scripts = b.eval('document.querySelectorAll("script").length')
        cases.check(not b.dialogs and not b.errors and scripts == (2 if kind == 'svg' else 3) and
                    not b.eval('document.querySelectorAll("img, .frames script, .frames [onload]").length'),
                    f'{kind}: hostile names run nothing', b.dialogs, b.errors, scripts)
        cases.check('<script>alert(1)</script>' in texts and '\\xff\\xfe' in texts and 'café 中' in texts and
                    'a&lt;b&amp;' in texts and '__proto__' in texts, f'{kind}: they are text', texts)
        picture(b, f'hostile-{kind}')
    names = [n['name'] for n in json.loads(show(STRATA, home / 'hostile.json', '-f', 'speedscope'))['shared']['frames']]
    cases.check('x' * 10000 + ' ' + 'x' * 10000 in names, 'a name of 10,000 characters is whole')
    for kind in 'text', 'folded':
        out = show(STRATA, home / 'hostile.json', '-f', kind).decode()
        cases.check('\x1b' not in out and '\x07' not in out, f'{kind}: nothing for the terminal')


def opening(b, path):
    """Returns the CPU time in seconds that the browser takes to show a picture."""
    begin = b.cpu()
    b.open(path)
    b.wait('document.querySelector(".f")')
    return b.cpu() - begin


def plain(home, n):
    """Returns a picture of n boxes without a script: the browser's own price."""
    path = home / 'plain.svg'
    boxes = ''.join(f'<svg class="f" x="{i % 99}%" y="{i // 99 * 17}" width="1%" height="17"><rect fill="#eda556"/>'
                    f'<text x="3" y="12">module::function_{i}</text><title>function_{i}: 12 (0.1 %)</title></svg>\n' for i in range(n))
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="1700">{boxes}</svg>')
    return path


def sizes(cases, b, home):
    box = opening(b, plain(home, 9000)) / 9000
    for n in 1, 1000, 100000 if IS_FAST else 3000:
        path = recordings.forest(home / f'{n}.json', n)
        for kind in 'svg', 'html':
            out = home / f'{n}.{kind}'
            show(STRATA, path, '-o', out)
            took = opening(b, out)
            shown = b.eval('document.querySelectorAll(".f").length')
            cases.check(shown > 3 and not b.errors and took < 1 + shown * box,
                        f'{n} stacks: {kind} of {out.stat().st_size >> 10} KiB, {shown} frames, opens for '
                        f'{took:.1f} s of CPU, {took / shown / box:.1f} of plain boxes', b.errors)
    picture(b, 'large')
    r = Recording()
    r.map()
    r.stack(['main'] + ['recurse'] * 16000, 7)
    for kind in 'svg', 'html':
        show(STRATA, r.write(home / 'deep.json'), '-o', home / f'deep.{kind}')
        b.open(home / f'deep.{kind}')
        b.wait('document.querySelectorAll(".f").length > 1000')
        cases.check(not b.errors, f'a stack of 16,000 frames: {kind}', b.errors)


def differs(cases, b, home):
    before, after = Recording(), Recording()
    for r, n in (before, 10), (after, 90):
        r.map()
        r.stack(['main', 'fast'], 100)
        r.stack(['main', 'slow'], n)
        r.write(home / f'd{n}.json')
    for kind in 'svg', 'html':
        show(STRATA, home / 'd90.json', '--diff', home / 'd10.json', '-o', home / f'd.{kind}')
        b.open(home / f'd.{kind}')
        picture(b, f'diff-{kind}')
        fills = dict(b.eval('[...document.querySelectorAll(".f")].map(f => [f.textContent, f.querySelector("rect").getAttribute("fill")])'))
        rgb = {k: [int(v[i:i + 2], 16) for i in (1, 3, 5)] for k, v in fills.items()}
        cases.check(rgb['slow'][0] > rgb['slow'][2] + 60 and rgb['fast'][2] > rgb['fast'][0] + 30 and
                    max(rgb['main']) - min(rgb['main']) < 9, f'{kind}: more is red, less is blue', rgb)
        b.hover(frame('slow'))
        cases.check('90 (47.37 %), self 90, 9.09 % before (+38.28)' in now(b), f'{kind}: hover has both', now(b))


def main():
    cases = tap.Cases()
    if not browser.PROGRAM:
        return absent.all_fail('there is no Chromium')
    with tempfile.TemporaryDirectory() as home, browser.Browser() as b:
        home = pathlib.Path(home)
        simple(home)
        for test in svg, page, colours, hostile, sizes, differs:
            test(cases, b, home)
    return cases.done()


sys.exit(main())
