<?php // SPDX-License-Identifier: Apache-2.0
fgets(STDIN);
for ($i = 0; $i < (int)$argv[1]; $i++) {
    $name = sprintf('f%06d', $i);
    $file = "$argv[2]/$name.php";
    file_put_contents($file, '<?php return function ($n) { $s = 0; for ($k = 0; $k < $n; $k++) $s += $k % 7; return $s; };');
    $f = include $file;
    $f(40000);
    unset($f);
    unlink($file);
}
