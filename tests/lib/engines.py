# SPDX-License-Identifier: Apache-2.0
"""engines.py - databases and servers next to the system, in build/engines: DuckDB, VictoriaMetrics and Prometheus of Debian
sid, ClickHouse 18.16 of bookworm, and chDB (ClickHouse in a library) of npm."""
import ctypes
import fcntl
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import packages

CACHE = pathlib.Path(__file__).resolve().parents[2] / 'build' / 'engines'
SUITES = {'duckdb': 'sid', 'victoria-metrics': 'sid', 'prometheus': 'sid', 'clickhouse-server': 'bookworm'}
CHDB = '@chdb/lib-linux-x64-gnu'
SQL = pathlib.Path(__file__).resolve().parents[2] / 'share' / 'sql'


def fetched(name, fetch):
    """Returns the directory, which the first call fills by fetch(directory)."""
    CACHE.mkdir(parents=True, exist_ok=True)
    done = CACHE / name
    with open(CACHE / f'{name}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            new = CACHE / f'{name}.new'
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            fetch(new)
            new.rename(done)
    return done


def root(package):
    return fetched(package, lambda to: packages.unpack_whole(CACHE, SUITES[package], 'amd64', to, [package]))


def program(package, name):
    """Returns the command that runs a program of the package with its own libraries."""
    at = root(package)
    [path] = [at / 'usr' / folder / name for folder in ('bin', 'sbin') if (at / 'usr' / folder / name).exists()]
    libraries = f'{at}/usr/lib/x86_64-linux-gnu:{at}/usr/lib'
    return [str(at / 'lib64/ld-linux-x86-64.so.2'), '--library-path', libraries, str(path)]


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Server:
    """A program that answers HTTP on loopback. with Server(command, port, path) as server: .. waits until the path answers."""

    def __init__(self, command, port, path, directory):
        self.url, self.path, self.log = f'http://127.0.0.1:{port}', path, pathlib.Path(directory) / 'log'
        self.process = subprocess.Popen(command, cwd=directory, stdout=self.log.open('w'), stderr=subprocess.STDOUT)

    def get(self, path, data=None, **headers):
        request = urllib.request.Request(self.url + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f'{path}: {error.code} {error.read().decode()[:2000]}')

    def __enter__(self):
        end = time.monotonic() + 60
        while True:
            try:
                self.get(self.path)
                return self
            except (OSError, RuntimeError) as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.__exit__()
                    raise RuntimeError(f'{error}\n{self.log.read_text()[-2000:]}')
                time.sleep(0.05)

    def close(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        self.close()


def queries(engine, name):
    return (SQL / engine / f'{name}.sql').read_text()


def chdb_library():
    def fetch(to):
        packages.run(['npm', 'pack', '--loglevel=error', CHDB], cwd=to, stdout=sys.stderr)
        [archive] = to.glob('*.tgz')
        subprocess.run(['tar', '-C', to, '--strip-components=1', '-xf', archive], check=True)
        archive.unlink()
    return fetched('chdb', fetch) / 'libchdb.so'


class Chdb:
    """ClickHouse in this process, by libchdb's functions for C (chdb.h of chDB 4)."""

    def __init__(self, directory=None):
        self.library = ctypes.CDLL(str(chdb_library()))
        for name, result, arguments in (
                ('chdb_connect', ctypes.POINTER(ctypes.c_void_p), (ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))),
                ('chdb_query', ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)),
                ('chdb_result_buffer', ctypes.c_void_p, (ctypes.c_void_p,)),
                ('chdb_result_length', ctypes.c_size_t, (ctypes.c_void_p,)),
                ('chdb_result_error', ctypes.c_char_p, (ctypes.c_void_p,)),
                ('chdb_destroy_query_result', None, (ctypes.c_void_p,)),
                ('chdb_close_conn', None, (ctypes.POINTER(ctypes.c_void_p),))):
            f = getattr(self.library, name)
            f.restype, f.argtypes = result, arguments
        words = [b'clickhouse'] + ([f'--path={directory}'.encode()] if directory else [])
        self.connection = self.library.chdb_connect(len(words), (ctypes.c_char_p * len(words))(*words))
        if not self.connection:
            raise RuntimeError('chDB does not start')

    def run(self, text, format='JSONEachRow'):
        """Runs one statement; returns its output."""
        result = self.library.chdb_query(self.connection[0], text.encode(), format.encode())
        try:
            error = self.library.chdb_result_error(result)
            if error:
                raise RuntimeError(f'{error.decode()}\n{text[:500]}')
            size = self.library.chdb_result_length(result)
            return ctypes.string_at(self.library.chdb_result_buffer(result), size).decode() if size else ''
        finally:
            self.library.chdb_destroy_query_result(result)

    def create(self):
        for statement in statements(queries('clickhouse', 'tables')):
            self.run(statement)

    def insert(self, path):
        self.run(f"INSERT INTO rows FROM INFILE '{path}' FORMAT JSONEachRow")

    def ask(self, name, **parameters):
        """Runs a query of share/sql; returns its rows."""
        for key, value in parameters.items():
            self.run(f"SET param_{key} = '{quoted(value)}'")
        [statement] = statements(queries('clickhouse', name))
        return [json.loads(line) for line in self.run(statement).splitlines()]

    def close(self):
        self.library.chdb_close_conn(self.connection)


def quoted(text):
    return str(text).replace('\\', '\\\\').replace("'", "\\'")


def statements(text):
    lines = [line for line in text.splitlines() if not line.startswith('--')]
    return [s.strip() for s in ('\n'.join(lines) + '\n').split(';\n') if s.strip()]


CLICKHOUSE_CONFIG = '''<yandex>
<logger><level>warning</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>HTTP</http_port><tcp_port>TCP</tcp_port>
<path>HERE/data/</path><tmp_path>HERE/tmp/</tmp_path><users_config>HERE/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
</yandex>
'''
CLICKHOUSE_USERS = '''<yandex>
<profiles><default><input_format_skip_unknown_fields>1</input_format_skip_unknown_fields></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
</default></users><quotas><default/></quotas>
</yandex>
'''


def of_2018(text):
    """Returns statements for ClickHouse 18.16, which has no codecs, maps, indices, TTL and parameters of queries.
    Its views do not convert to LowCardinality."""
    text = re.sub(r' CODEC\((?:[^()]|\([^()]*\))*\)', '', text)
    text = re.sub(r',\s*(?:--[^\n]*)?\n *INDEX [^\n]*', '', text)
    text = re.sub(r'(?:^|\n)TTL [^;]*', '', text)
    text = re.sub(r'\n *labels Map[^\n]*|\n *labels,', '', text)
    return text.replace('LowCardinality(String)', 'String')


class ClickHouse(Server):
    """ClickHouse 18.16, over HTTP."""

    def __init__(self, directory):
        directory, http = pathlib.Path(directory), free_port()
        (directory / 'users.xml').write_text(CLICKHOUSE_USERS)
        (directory / 'config.xml').write_text(CLICKHOUSE_CONFIG.replace('HERE', str(directory)).replace('HTTP', str(http)).replace(
            'TCP', str(free_port())))
        super().__init__([*program('clickhouse-server', 'clickhouse-server'), f'--config-file={directory}/config.xml'], http, '/ping',
                         directory)

    def create(self):
        for statement in statements(queries('clickhouse', 'tables')):
            self.get('/', of_2018(statement).encode())

    def insert(self, path):
        query = urllib.parse.quote('INSERT INTO rows FORMAT JSONEachRow')
        self.get(f'/?query={query}', pathlib.Path(path).read_bytes())

    def ask(self, name, **parameters):
        [statement] = statements(queries('clickhouse', name))
        text = re.sub(r'\{(\w+):(\w+)\}', lambda m: f"to{m[2]}('{quoted(parameters[m[1]])}')", statement)
        text = text if 'FORMAT' in text else text + ' FORMAT JSONEachRow'
        return [json.loads(line) for line in self.get('/', text.encode()).splitlines()]


class Duck:
    """DuckDB on a file."""

    def __init__(self, directory):
        self.path = pathlib.Path(directory) / 'profiles.db'
        self.command = program('duckdb', 'duckdb')

    def run(self, text, *words):
        done = subprocess.run([*self.command, '-bail', '-batch', *words, self.path], input=text, capture_output=True, text=True,
                              timeout=900)
        if done.returncode or done.stderr:
            raise RuntimeError(f'{done.stderr}\n{text[:500]}')
        return done.stdout

    def create(self):
        self.run(queries('duckdb', 'tables'))

    def insert(self, path):
        self.run(f"SET VARIABLE file = '{path}';\n" + queries('duckdb', 'load'))

    def ask(self, name, **parameters):
        variables = ''.join(f'SET VARIABLE "{k}" = \'{str(v).replace(chr(39), chr(39) * 2)}\';\n' for k, v in parameters.items())
        out = self.run(variables + queries('duckdb', name), '-jsonlines')
        return [json.loads(line) for line in out.splitlines()]

    def close(self):
        """The file stays."""
