<?php
use Foo\Bar;
use Foo\Baz as Other, Foo\Two;
use function Foo\call;
use const Foo\LIMIT;
use Foo\Group\{First, Second as Third, function fourth};
use Single;
require 'a.php';
require_once __DIR__ . '/b.php';
include("c.php");
include_once $dynamic;
class A { use Counting; }
