<?php
// SPDX-License-Identifier: Apache-2.0
// account.php CALLS SEED DIRECTORY [held] - stacks that are random in shape and depth; the traced
// program of account.py. Before each call of getmypid(), where strata looks, it prints what PHP
// itself says of its stack: how many frames, and two checksums, without and with the lines. held:
// it waits there for a line.
namespace account;

const DEEPEST = 2000;

// What debug_backtrace() says, as strata shows it, from the caller of probe() outwards: a
// function is named by one entry, and where it is by the entry before.
function account(array $trace): array
{
    $names = $whole = '';
    foreach ($trace as $i => $call) {
        $by = $trace[$i + 1] ?? ['function' => '{main}'];
        $name = (isset($by['class']) ? explode("\0", $by['class'])[0] . '::' : '') . $by['function'];
        $file = isset($call['file']) ? " {$call['file']}" : '';
        $names .= "$name$file\n";
        $whole .= isset($call['file']) ? "$name$file:{$call['line']}\n" : "$name\n";
    }
    return [count($trace), crc32($names), crc32($whole)];
}

class State
{
    public static $depth = 0, $probes = 0, $files = [], $n = 0, $held = false;
}

function probe(): void
{
    [$depth, $names, $whole] = account(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    echo $depth + 2, " $names $whole\n";
    State::$probes++;
    if (State::$held) {
        fgets(STDIN);
        return;
    }
    getmypid();
    usleep(2 * $depth); // so that the reader's ring buffer holds them all
}

function plain(int $n)
{
    return down($n - 1);
}

function straße(int $n)
{
    return

        down($n - 1);
}

trait Shared
{
    public function shared(int $n)
    {
        return down($n - 1);
    }
}

class Base
{
    public $n;

    public function __construct(int $n, bool $go = false)
    {
        $this->n = $n;
        if ($go)
            down($n - 1);
    }

    public function inherited()
    {
        return down($this->n - 1);
    }
}

class Shape extends Base implements \IteratorAggregate, \Countable, \ArrayAccess
{
    use Shared;

    private $at = 0;

    public function method()
    {
        return down($this->n - 1);
    }

    public static function fixed(int $n)
    {
        return down($n - 1);
    }

    public function __invoke()
    {
        return down($this->n - 1);
    }

    public function __toString(): string
    {
        down($this->n - 1);
        return '';
    }

    public function __get($name)
    {
        return down($this->n - 1);
    }

    public function __set($name, $value)
    {
        down($this->n - 1);
    }

    public function __isset($name)
    {
        down($this->n - 1);
        return false;
    }

    public function __call($name, $values)
    {
        return down($this->n - 1);
    }

    public static function __callStatic($name, $values)
    {
        return down($values[0] - 1);
    }

    public function getIterator(): \Iterator
    {
        down($this->n - 1);
        return new \ArrayIterator([]);
    }

    public function count(): int
    {
        down($this->n - 1);
        return 0;
    }

    #[\ReturnTypeWillChange]
    public function offsetExists($key)
    {
        return false;
    }

    #[\ReturnTypeWillChange]
    public function offsetGet($key)
    {
        return down($this->n - 1);
    }

    #[\ReturnTypeWillChange]
    public function offsetSet($key, $value)
    {
        down($this->n - 1);
    }

    #[\ReturnTypeWillChange]
    public function offsetUnset($key)
    {
        down($this->n - 1);
    }

    public function bound()
    {
        return (function () {
            return down($this->n - 1);
        })();
    }
}

class Steps extends Base implements \Iterator
{
    private $left = 1;

    #[\ReturnTypeWillChange]
    public function current()
    {
        return down($this->n - 1);
    }

    #[\ReturnTypeWillChange]
    public function key()
    {
        return 0;
    }

    public function next(): void
    {
        $this->left--;
    }

    public function rewind(): void
    {
    }

    public function valid(): bool
    {
        return $this->left > 0;
    }
}

class Last extends Base
{
    public function __destruct()
    {
        down($this->n - 1);
    }
}

function values(int $n)
{
    yield down($n - 1);
}

function thrower(int $n)
{
    $last = new Last($n);

    if (State::$n >= 0)
        throw new \LogicException();
}

// Files of their own, made here: "once" works once for each.
function file_of(string $how, int $n)
{
    State::$n = $n;
    $path = State::$files[0];
    switch ($how) {
    case 'include':
        return include $path;
    case 'require':
        return require $path;
    }
    $path = sprintf('%s/%d.php', State::$files[1], State::$files[2]++);
    copy(State::$files[0], $path);
    return $how == 'include_once' ? include_once $path : require_once $path;
}

function cheap(): array
{
    return [
        'account\plain',
        'account\straße',
        function ($n) { return down($n - 1); },
        static function ($n) {
            return down($n - 1);
        },
        fn($n) => down($n - 1),
        fn($n) => (new Shape($n))->method(),
        fn($n) => Shape::fixed($n),
        fn($n) => (new Shape($n))->inherited(),
        fn($n) => (new Shape($n))->shared($n),
        fn($n) => new Base($n, true),
        fn($n) => (new Shape($n))->bound(),
        fn($n) => (new class($n) extends Base {
            public function own()
            {
                return down($this->n - 1);
            }
        })->own(),
    ];
}

function costly(): array
{
    $all = [
        function ($n) { $a = [2, 1]; usort($a, function ($a, $b) use ($n) { down($n - 1); return 0; }); },
        fn($n) => array_map(fn($m) => down($m - 1), [$n]),
        fn($n) => array_map('account\plain', [$n]),
        fn($n) => call_user_func('account\plain', $n),
        fn($n) => call_user_func([new Shape($n), 'method']),
        fn($n) => call_user_func_array(['account\Shape', 'fixed'], [$n]),
        fn($n) => preg_replace_callback('/a/', function () use ($n) { down($n - 1); return ''; }, 'a'),
        fn($n) => (new Shape($n))(),
        fn($n) => (string) new Shape($n),
        fn($n) => 'a' . new Shape($n),
        fn($n) => strlen(new Shape($n)),
        fn($n) => (new Shape($n))->nothing,
        function ($n) { $shape = new Shape($n); $shape->nothing = 1; },
        function ($n) { $shape = new Shape($n); return isset($shape->nothing); },
        fn($n) => (new Shape($n))->unknown(),
        fn($n) => Shape::unknown($n),
        fn($n) => count(new Shape($n)),
        fn($n) => (new Shape($n))[0],
        function ($n) { $shape = new Shape($n); $shape[1] = 2; },
        fn($n) => iterator_to_array(values($n)),
        fn($n) => values($n)->current(),
        fn($n) => (new \ReflectionMethod('account\Shape', 'fixed'))->invoke(null, $n),
        fn($n) => \Closure::fromCallable('account\plain')($n),
        fn($n) => (new \ArrayObject([2, 1]))->uasort(function () use ($n) { down($n - 1); return 0; }),
        fn($n) => eval('return account\down($n - 1);'),
        fn($n) => eval("\n\nreturn (function (\$n) {\n return account\\down(\$n - 1);\n})(\$n);"),
        fn($n) => file_of('include', $n),
        fn($n) => file_of('require', $n),
        fn($n) => file_of('include_once', $n),
        fn($n) => file_of('require_once', $n),
        function ($n) { foreach (values($n) as $value) return $value; },
        function ($n) { foreach (new Steps($n) as $value) return $value; },
        function ($n) { foreach (new Shape($n) as $value) return $value; },
        function ($n) { $last = new Last($n); unset($last); },
        function ($n) { new Last($n); },
        function ($n) { try { thrower($n); } catch (\LogicException $e) { return 0; } },
        function ($n) { try { throw new \LogicException(); } catch (\LogicException $e) { return down($n - 1); } },
        function ($n) { try { return 0; } finally { down($n - 1); } },
        function ($n) {
            try {
                try {
                    throw new \LogicException();
                } finally {
                    down($n - 1);
                }
            } catch (\LogicException $e) {
            }
        },
        function ($n) {
            $load = function ($class) use ($n, &$load) {
                spl_autoload_unregister($load); // else it is called again further down
                down($n - 1);
            };
            spl_autoload_register($load);
            class_exists('No' . mt_rand());
        },
        function ($n) { $a = [$n]; array_walk($a, function ($m) { down($m - 1); }); },
        function ($n) {
            set_error_handler(function () use ($n) { restore_error_handler(); down($n - 1); return true; });
            trigger_error('');
        },
    ];
    if (class_exists('Fiber'))
        $all[] = fn($n) => (new \Fiber(function ($n) { down($n - 1); }))->start($n);
    return $all;
}

function down(int $n)
{
    static $cheap, $costly;

    $cheap = $cheap ?? cheap();
    $costly = $costly ?? costly();
    if ($n <= 0)
        return probe();
    // Shapes that go through C use its stack: most levels of a deep stack are plain.
    $shapes = mt_rand(0, 999) < (State::$depth < 100 ? 500 : 20) ? $costly : $cheap;
    $shapes[mt_rand(0, count($shapes) - 1)]($n);
    return 0;
}

function work(int $calls, string $directory): void
{
    State::$files = ["$directory/once.php", $directory, 0];
    file_put_contents(State::$files[0], "<?php\n\nreturn account\\down(account\\State::\$n - 1);\n");
    while (State::$probes < $calls) {
        State::$depth = (int) (DEEPEST ** (mt_rand() / mt_getrandmax()));
        try {
            down(intdiv(State::$depth, 3));
        } catch (\Throwable $e) { // a fiber cannot be started in a destructor
        }
    }
}

mt_srand((int) $argv[2]);
State::$held = isset($argv[4]);
$status = function_exists('opcache_get_status') ? opcache_get_status(false) : false;
echo PHP_VERSION, $status ? ' opcache' : '', !empty($status['jit']['on']) ? ' jit' : '', "\n";
fgets(STDIN);
work((int) $argv[1], $argv[3]);
