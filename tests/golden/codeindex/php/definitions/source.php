<?php

declare(strict_types=1);

namespace Acme\Web;

const TOP = 5;
define('DEFINED', 6);

/**
 * Keeps orders.
 */
#[Attribute(1)]
final class Store extends Base implements Keeps
{
    use Counting, Naming { first as second; }

    const MAX = 3, MIN = 1;
    public const string NAME = 'store';

    private int $a = 1, $c;
    public readonly string $b;

    public function __construct(private int $x, string $b = "x")
    {
        $this->b = $b; // kept
    }

    #[Test]
    public static function put(string $key, ?int &$value = 3, int|string ...$rest): bool
    {
        function nested()
        {
        }
        return true;
    }

    abstract protected function later();

    public string $hooked {
        get => 1;
        set { $this->x = $value; }
    }
}

interface Keeps
{
    public function need(int $a);
}

trait Counting
{
    public function count() { return 1; }
}

enum Suit: string
{
    case Hearts = 'h';
    const Wild = self::Hearts;

    public function label(): string
    {
        return 'x';
    }
}

function &top($a = 1)
{
    return fn($x) => $x + $a;
}

if (!function_exists('late')) {
    function late() {}
}

$anonymous = new class {
    public function inside() {}
};
$closure = function ($x) use ($anonymous) { return $x; };
