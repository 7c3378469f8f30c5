# SPDX-License-Identifier: Apache-2.0
"""receivers.py - a receiver of OTLP/HTTP that takes protobuf and JSON, and answers as a test wants: with a status, headers, a body, after some
seconds, or by closing the connection."""
import gzip
import http.server
import json
import socket
import struct
import threading
import time


# Messages by opentelemetry-proto v1.11.0: {number: (name in JSON, type)}. s: text, i: integer, l: 64-bit integer, which JSON has as
# text, f: fixed64, F: sfixed64, d: double, b: truth; a message; [x]: a list.
VALUE = {1: ('stringValue', 's'), 2: ('boolValue', 'b'), 3: ('intValue', 'l')}
ATTRIBUTES = [{1: ('key', 's'), 2: ('value', VALUE)}]
HEAD = {1: ('resource', {1: ('attributes', ATTRIBUTES)})}
SCOPE = {1: ('scope', {1: ('name', 's'), 2: ('version', 's')})}
TIMES = {2: ('startTimeUnixNano', 'f'), 3: ('timeUnixNano', 'f')}
POINT = TIMES | {6: ('asInt', 'F'), 7: ('attributes', ATTRIBUTES)}
BARS = TIMES | {4: ('count', 'f'), 6: ('bucketCounts', ['f']), 7: ('explicitBounds', ['d']), 9: ('attributes', ATTRIBUTES)}
METRIC = {1: ('name', 's'), 3: ('unit', 's'), 5: ('gauge', {1: ('dataPoints', [POINT])}),
          7: ('sum', {1: ('dataPoints', [POINT]), 2: ('aggregationTemporality', 'i'), 3: ('isMonotonic', 'b')}),
          9: ('histogram', {1: ('dataPoints', [BARS]), 2: ('aggregationTemporality', 'i')})}
RECORD = {1: ('timeUnixNano', 'f'), 2: ('severityNumber', 'i'), 3: ('severityText', 's'), 5: ('body', VALUE),
          11: ('observedTimeUnixNano', 'f'), 12: ('eventName', 's')}
KIND = {1: ('typeStrindex', 'i'), 2: ('unitStrindex', 'i')}
PROFILE = {1: ('sampleType', KIND), 2: ('samples', [{1: ('stackIndex', 'i'), 2: ('attributeIndices', ['i']), 4: ('values', ['l'])}]),
           3: ('timeUnixNano', 'f'), 4: ('durationNano', 'l'), 5: ('periodType', KIND), 6: ('period', 'l')}
LOCATION = {1: ('mappingIndex', 'i'), 2: ('address', 'l'), 4: ('attributeIndices', ['i']),
            3: ('lines', [{1: ('functionIndex', 'i'), 2: ('line', 'l'), 3: ('column', 'l')}])}
DICTIONARY = {1: ('mappingTable', [{4: ('filenameStrindex', 'i'), 5: ('attributeIndices', ['i'])}]), 2: ('locationTable', [LOCATION]),
              3: ('functionTable', [{1: ('nameStrindex', 'i'), 2: ('systemNameStrindex', 'i'), 3: ('filenameStrindex', 'i')}]),
              4: ('linkTable', [{}]), 5: ('stringTable', ['s']), 6: ('attributeTable', [{1: ('keyStrindex', 'i'), 2: ('value', VALUE)}]),
              7: ('stackTable', [{1: ('locationIndices', ['i'])}])}
ROOTS = {
    '/v1/metrics': {1: ('resourceMetrics', [HEAD | {2: ('scopeMetrics', [SCOPE | {2: ('metrics', [METRIC])}])}])},
    '/v1/logs': {1: ('resourceLogs', [HEAD | {2: ('scopeLogs', [SCOPE | {2: ('logRecords', [RECORD])}])}])},
    '/v1development/profiles': {1: ('resourceProfiles', [HEAD | {2: ('scopeProfiles', [SCOPE | {2: ('profiles', [PROFILE])}])}]),
                                2: ('dictionary', DICTIONARY)},
}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def scalar(kind, data, at):
    """Returns (value as JSON has it, end)."""
    if kind in 'fFd':
        value = struct.unpack_from({'f': '<Q', 'F': '<q', 'd': '<d'}[kind], data, at)[0]
        return value if kind == 'd' else str(value), at + 8
    value, at = varint(data, at)
    value -= (value >> 63) << 64 if kind == 'l' else 0
    return {'l': str, 'b': bool, 'i': int}[kind](value), at


def value_of(kind, wire, data, at):
    if wire != 2:
        return scalar(kind, data, at)
    size, at = varint(data, at)
    part = data[at:at + size]
    assert len(part) == size
    return (part.decode() if kind == 's' else decode(kind, part)), at + size


def decode(message, data):
    """Returns protobuf as the object that JSON would have. A field that is not in the tables is an error."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = message[tag >> 3]
        if not isinstance(kind, list):
            found[name], at = value_of(kind, tag & 7, data, at)
            continue
        [kind] = kind
        items = found.setdefault(name, [])
        if kind == 's' or isinstance(kind, dict):
            item, at = value_of(kind, tag & 7, data, at)
            items.append(item)
            continue
        size, at = varint(data, at) # packed
        end = at + size
        while at < end:
            item, at = scalar(kind, data, at)
            items.append(item)
    return found


class Receiver(http.server.ThreadingHTTPServer):
    """with Receiver() as r: r.answers are used up one after another; then all is taken. r.objects has the taken bodies as
    (path, object), r.requests the headers of all requests. At the end, what was taken is answered, so nobody sends it again."""
    daemon_threads = True

    def __init__(self, *answers, port=0):
        self.answers, self.objects, self.requests, self.connections = list(answers), [], [], []
        self.lock = threading.Condition()
        self.unanswered, self.ends = 0, False
        super().__init__(('127.0.0.1', port), Handler)
        self.port = self.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}'

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        with self.lock:
            self.ends = True
            self.lock.wait_for(lambda: not self.unanswered, 10)
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
        time.sleep(answer.get('seconds', 0))
        status = answer.get('status', 200)
        if status == 200:
            if self.headers.get('Content-Encoding') == 'gzip':
                body = gzip.decompress(body)
            is_json = self.headers['Content-Type'] == 'application/json'
            taken = self.path, json.loads(body) if is_json else decode(ROOTS[self.path], body)
            with server.lock:
                if server.ends:
                    self.close_connection = True
                    return
                server.objects.append(taken)
                server.unanswered += 1
        try:
            self.answer(status, answer)
        finally:
            if status == 200:
                with server.lock:
                    server.unanswered -= 1
                    server.lock.notify_all()

    def answer(self, status, answer):
        text = answer.get('body', '{}')
        text = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name, value in answer.get('headers', {}).items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass
