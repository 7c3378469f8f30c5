# SPDX-License-Identifier: Apache-2.0
"""receivers.py - a receiver of OTLP/HTTP that takes JSON, and answers as a test wants: with a status, headers, a body, or by
closing the connection."""
import gzip
import http.server
import json
import socket
import threading


class Receiver(http.server.ThreadingHTTPServer):
    """with Receiver() as r: r.answers are used up one after another; then all is taken. r.objects has the taken bodies as
    (path, object), r.requests the headers of all requests."""
    daemon_threads = True

    def __init__(self, *answers, port=0):
        self.answers, self.objects, self.requests, self.connections = list(answers), [], [], []
        self.lock = threading.Lock()
        super().__init__(('127.0.0.1', port), Handler)
        self.port = self.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}'

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def process_request(self, request, client_address):
        self.connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        """A client that went away is not an error of the test."""

    def metrics(self):
        """Returns {name: sum of the points of its last message}."""
        found = {}
        for path, o in list(self.objects):
            for r in o.get('resourceMetrics', []):
                for m in r['scopeMetrics'][0]['metrics']:
                    data = m.get('sum') or m.get('gauge')
                    if data:
                        found[m['name']] = sum(int(p['asInt']) for p in data['dataPoints'])
        return found

    def logs(self):
        return [l['body']['stringValue'] for _, o in list(self.objects) for r in o.get('resourceLogs', [])
                for l in r['scopeLogs'][0]['logRecords']]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers['Content-Length']))
        with server.lock:
            answer = server.answers.pop(0) if server.answers else {}
            server.requests.append((self.path, dict(self.headers)))
        if answer.get('cut'):
            self.close_connection = True
            self.connection.close()
            return
        status = answer.get('status', 200)
        if status == 200:
            if self.headers.get('Content-Encoding') == 'gzip':
                body = gzip.decompress(body)
            with server.lock:
                server.objects.append((self.path, json.loads(body)))
        text = answer.get('body', '{}').encode()
        self.send_response(status)
        for name, value in answer.get('headers', {}).items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass
