class Sums
{
    int Before(int a)
    {
        return a;
    }

    int Broken(int a, int b)
    {
        return a +;
    }

    int After(int a)
    {
        return a * 2;
    }
}
