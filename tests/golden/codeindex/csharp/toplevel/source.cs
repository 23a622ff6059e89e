using System;

Console.WriteLine(Twice(2));

int Twice(int value)
{
    return value * 2;
}
