<?php
// SPDX-License-Identifier: Apache-2.0
// busy.php - works until it is ended: calls from PHP to C and back, for busy.py.

class Text
{
    public $n;

    public function __construct(int $n)
    {
        $this->n = $n;
    }

    public function __toString(): string
    {
        return str_repeat('a', leaf($this->n));
    }
}

function leaf(int $n): int
{
    for ($i = $sum = 0; $i < $n; $i++)
        $sum = ($sum + $i * $i) % 1009;
    return $sum % 7;
}

function compare(int $a, int $b): int
{
    return leaf(20) ? $a <=> $b : $a <=> $b;
}

function sorted(): array
{
    $list = range(1, 40);
    shuffle($list);
    usort($list, 'compare');
    return $list;
}

function mapped(array $list): array
{
    return array_map('number', $list);
}

function number(int $n): int
{
    return leaf($n);
}

function replaced(array $list): string
{
    return preg_replace_callback('/\d+/', 'replace', implode(' ', $list));
}

function replace(array $match): string
{
    return new Text((int) $match[0]);
}

function values(array $list)
{
    foreach ($list as $n)
        yield leaf($n);
}

function summed(array $list): int
{
    $sum = 0;
    foreach (values($list) as $n)
        $sum += $n;
    return $sum;
}

function work(): void
{
    $list = sorted();
    summed($list);
    mapped($list);
    replaced($list);
    for ($i = 0; $i < 20; $i++)
        leaf(200);
}

echo "ready\n";
while (true)
    work();
