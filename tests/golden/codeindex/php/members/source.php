<?php class A { private $x = 1; public function __construct(private int $y) {} }
enum E: int { case A = 1; }
