<?php

function before($a)
{
    return $a;
}

function broken($a, $b)
{
    return $a +;
}

function after($a)
{
    return $a * 2;
}
