# SPDX-License-Identifier: Apache-2.0
"""browser.py - a headless Chromium in which tests open files. They drive it by its debugging protocol, over a pipe.
Pages cannot reach the network."""
import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

PROGRAM = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')


class Browser:
    def __init__(self, width=1200, height=800):
        self.home = tempfile.TemporaryDirectory()
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_child, from_child)]
        command = [PROGRAM, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
                   '--remote-debugging-pipe', f'--user-data-dir={self.home.name}', f'--window-size={width},{height}',
                   '--host-resolver-rules=MAP * ~NOTFOUND', '--allow-file-access-from-files', 'about:blank']

        def set_pipes(): # the browser expects the pipes as descriptors 3 and 4
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.child = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=set_pipes, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (to_child, from_child, *high):
            os.close(fd)
        self.number = 0
        self.rest = b''
        self.errors = []
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Log':
            self.call(domain + '.enable')

    session = None

    def cpu(self):
        """The seconds of CPU time that the browser has used, with all of its processes."""
        ticks, pids = 0, [str(self.child.pid)]
        while pids:
            pid = pids.pop()
            try:
                stat = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
                ticks += int(stat[11]) + int(stat[12])
                pids += [p for t in pathlib.Path(f'/proc/{pid}/task').iterdir() for p in (t / 'children').read_text().split()]
            except OSError:
                pass # the process has ended
        return ticks / os.sysconf('SC_CLK_TCK')

    def message(self):
        while b'\0' not in self.rest:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise RuntimeError('the browser has ended')
            self.rest += more
        text, self.rest = self.rest.split(b'\0', 1)
        m = json.loads(text)
        if m.get('method') == 'Runtime.exceptionThrown':
            self.errors.append(m['params']['exceptionDetails'].get('exception', {}).get('description', 'an exception'))
        if m.get('method') == 'Page.javascriptDialogOpening':
            self.dialogs = getattr(self, 'dialogs', 0) + 1
        return m

    def call(self, method, **params):
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': params}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.to, json.dumps(request).encode() + b'\0')
        while True:
            m = self.message()
            if m.get('id') == self.number:
                if 'error' in m:
                    raise RuntimeError(f'{method}: {m["error"]}')
                return m['result']

    def open(self, path):
        """Opens a file or a URL, and waits until it is loaded."""
        self.errors.clear()
        url = str(path) if '://' in str(path) else pathlib.Path(path).resolve().as_uri()
        self.call('Page.navigate', url=url)
        self.wait('document.readyState === "complete"')

    def eval(self, code):
        """Returns the value of an expression. If it is a promise, waits for the result."""
        r = self.call('Runtime.evaluate', expression=code, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in r:
            raise RuntimeError(r['exceptionDetails'].get('exception', {}).get('description', code))
        return r['result'].get('value')

    def wait(self, condition, seconds=20):
        return self.eval(f'''new Promise((done, fail) => {{
            const end = Date.now() + {seconds * 1000};
            const look = () => {{
                let v = false;
                try {{ v = {condition}; }} catch {{}}
                if (v) done(v); else if (Date.now() > end) fail(new Error('not in time')); else setTimeout(look, 20);
            }};
            look();
        }})''')

    def mouse(self, kind, x, y):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left' if 'ed' in kind else 'none', clickCount=1)

    def middle(self, element):
        """Returns the middle of an element, which an expression names."""
        return self.eval(f'(() => {{ const r = ({element}).getBoundingClientRect();'
                         f' return [r.x + r.width / 2, r.y + r.height / 2]; }})()')

    def click(self, element):
        x, y = self.middle(element)
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y)
        self.mouse('mouseReleased', x, y)

    def hover(self, element):
        self.mouse('mouseMoved', *self.middle(element))

    def key(self, key):
        """Presses a key. Moves the mouse away first, since the page would otherwise take the element below it as hovered."""
        self.mouse('mouseMoved', 1, 1)
        code = {'Escape': 27, 'Enter': 13, 'Backspace': 8, 'ArrowUp': 38, 'ArrowDown': 40, 'ArrowLeft': 37, 'ArrowRight': 39}
        more = {'windowsVirtualKeyCode': code[key]} if key in code else {'text': key}
        self.call('Input.dispatchKeyEvent', type='keyDown', key=key, **more)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key)

    def dark(self, on):
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if on else 'light'}])

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call('Page.captureScreenshot', format='png')['data']))

    def close(self):
        try:
            self.session = None
            self.call('Browser.close')
        except (RuntimeError, OSError):
            pass
        self.child.wait(timeout=20)
        os.close(self.to)
        os.close(self.back)
        self.home.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
