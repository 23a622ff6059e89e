class Sums
{
    int Before(int a)
    {
        return a;
    }

<<<<<<< HEAD
    int Ours()
    {
        return 1;
    }
=======
    int Theirs()
    {
        return 2;
    }
>>>>>>> branch

    int After(int a)
    {
        return a * 2;
    }
}
