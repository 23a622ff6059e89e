int before(int a)
{
    return a;
}

int broken(int a, int b {
    return a +
}

int after(int a)
{
    return a * 2;
}
