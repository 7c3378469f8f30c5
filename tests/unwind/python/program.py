# program.py - Python stacks of every kind. In the innermost function stop() prints Python's own
# account of the stack (a line of JSON) and then calls into libc: read(), which waits for a
# line, or getppid() if that is argv[1]. It runs on Python 3.6 and later.
import asyncio
import ctypes
import functools
import json
import os
import re
import sys
import threading

GETPPID = sys.argv[1:] == ["getppid"]
THREADS = 4


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def frames_from(frame):
    out = []
    while frame:
        out.append([name_of(frame.f_code), frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return out


def tell(case, frames):
    text = json.dumps({"case": case, "frames": frames}) + "\n"
    os.write(1, text.encode())


def stop(case):
    tell(case, frames_from(sys._getframe(1)))
    if GETPPID:
        os.getppid()
    else:
        os.read(0, 1)


# ---- cases ----

def recurse(n, case):
    if n > 1:
        return recurse(n - 1, case)
    return stop(case)


def case_generator():
    def inner(n):
        if n:
            yield from inner(n - 1)
        else:
            stop("generator")
            yield 1

    def squares():
        for x in inner(5):
            yield x * x

    return list(squares())


def case_comprehension():
    list([stop("comprehension") for _ in range(1)])
    return {x: [y for y in [stop("nested comprehension")]] for x in range(1)}


def case_generator_expression():
    return sum(len([stop("generator expression")]) for _ in range(1))


def decorated(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper


@decorated
@decorated
def case_decorator():
    stop("decorator")


class Outer:
    class Inner:
        def __init__(self):
            stop("constructor")

        def __add__(self, other):
            stop("operator")
            return self

        def __getattr__(self, name):
            if name == "missing":
                stop("getattr")
            return None

        def __len__(self):
            stop("len")
            return 3

        def __iter__(self):
            stop("iter")
            return iter([])

        @property
        def prop(self):
            stop("property")

        @staticmethod
        def static():
            stop("static method")

        @classmethod
        def klass(cls):
            stop("class method")

        def __del__(self):
            stop("destructor")


def case_class():
    o = Outer.Inner()
    o + o
    o.missing
    len(o)
    list(o)
    o.prop
    o.static()
    o.klass()
    del o


def case_lambda():
    f = lambda: (lambda: (lambda: stop("lambda"))())()
    f()
    (lambda x: stop("argument"))(
        1,
    )


def case_exec():
    code = compile("""

def inner(stop):
    x = 1

    stop('exec')
inner(stop)
""", "<generated \u00e9>", "exec")
    exec(code, {"stop": stop})
    eval("stop('eval')")


def case_callback():
    sorted([1], key=lambda x: stop("sorted") or x)
    re.sub("a", lambda m: stop("re.sub") or "b", "a")
    list(map(lambda x: stop("map"), [1]))
    functools.reduce(lambda a, b: stop("reduce"), [1, 2])
    max([1, 2], key=lambda x: 0 if x == 1 else stop("max") or 1)
    sorted([2, 1], key=functools.cmp_to_key(lambda a, b: stop("cmp") or 1))


def case_partial():
    functools.partial(recurse, 3)("partial")
    functools.partial(recurse, n=3)(case="partial with keywords")


def case_exception():
    try:
        raise ValueError
    except ValueError:
        stop("except")
    finally:
        stop("finally")

    class Context:
        def __enter__(self):
            stop("enter")

        def __exit__(self, *exc):
            stop("exit")

    with Context():
        stop("with")


def case_lines():
    x = [
        1,
        2,
        stop(
            "expression of many lines"
        ),
    ]
    return (
        x
        and
        stop("second line of an expression")
    )


def case_unicode():
    scope = {"stop": stop}
    exec("def caf\u00e9(): stop('latin-1')\n"
         "def \u5909\u6570(): stop('two bytes')\n"
         "def \U00020000(): stop('four bytes')\n", scope)
    scope["caf\u00e9"]()
    scope["\u5909\u6570"]()
    scope["\U00020000"]()


def case_big():
    # Long line tables, and a long name. A table of more than about 1400 lines is larger than a
    # record; strata then reads it from the process, which has to wait.
    for lines in (100, 1000) if GETPPID else (100, 1000, 3000):
        body = "".join("    x = f'{x}{%d}'\n" % i for i in range(lines))
        long_name = "f" + "x" * 400
        scope = {"stop": stop}
        exec("def %s(x):\n%s    stop('big')\n    x = 1\n" % (long_name, body), scope)
        scope[long_name]("")


def case_renamed():
    # Code objects that are freed and made again, often at the same address.
    for i in range(30):
        scope = {"stop": stop}
        exec("def name_%02d():\n    stop('renamed')\nname_%02d()" % (i, i), scope)
        del scope


def case_coroutine():
    async def leaf():
        stop("coroutine")

    async def root():
        await leaf()
        await asyncio.gather(leaf(), leaf())

    loop = asyncio.new_event_loop()
    loop.run_until_complete(root())
    loop.close()


def case_import():
    sys.modules.pop("this_is_no_module", None)

    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "this_is_no_module":
                stop("import")

    sys.meta_path.append(Finder())
    try:
        import this_is_no_module  # noqa
    except ImportError:
        pass
    sys.meta_path.pop()


# All threads wait at the same time, each in read() of its own pipe, without the GIL.
def case_threads():
    told, go = [], []
    ready = threading.Semaphore(0)

    def work(n, r):
        def deepest():
            told[n] = frames_from(sys._getframe(0))
            ready.release()
            (lambda: os.read(r, 1))()

        def down(k):
            return down(k - 1) if k else deepest()
        down(n * 7)

    threads = []
    for n in range(THREADS):
        r, w = os.pipe()
        told.append(None)
        go.append(w)
        t = threading.Thread(target=work, args=(n, r))
        t.start()
        threads.append(t)
    for _ in threads:
        ready.acquire()
    tell("threads", told)
    os.read(0, 1)
    for w in go:
        os.write(w, b"x")
    for t in threads:
        t.join()


def case_thread_stack():
    t = threading.Thread(target=lambda: recurse(20, "thread"))
    t.start()
    t.join()


def main():
    sys.setrecursionlimit(20000)
    try: # any process may trace this one: PR_SET_PTRACER_ANY
        ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
    except OSError:
        pass
    if GETPPID:
        os.read(0, 1)
    for n in (1, 2, 3, 10, 14, 15, 100, 127, 128, 500, 1000, 5000):
        recurse(n, "depth %d" % n)
    cases = [f for name, f in sorted(globals().items()) if name.startswith("case_")]
    for f in cases:
        if not (GETPPID and f is case_threads):
            f()
    tell("done", [])


main()
