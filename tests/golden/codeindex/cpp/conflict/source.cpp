int shop::before(int a)
{
    return a;
}

<<<<<<< HEAD
int ours(void)
{
    return 1;
}
=======
int theirs(void)
{
    return 2;
}
>>>>>>> branch

int after(int a)
{
    return a * 2;
}
