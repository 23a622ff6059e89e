<?php

function before($a)
{
    return $a;
}

<<<<<<< HEAD
function ours()
{
    return 1;
}
=======
function theirs()
{
    return 2;
}
>>>>>>> branch

function after($a)
{
    return $a * 2;
}
