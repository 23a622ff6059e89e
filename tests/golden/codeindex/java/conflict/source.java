class Conflict {
    int before(int a) {
        return a;
    }

<<<<<<< HEAD
    int ours() {
        return 1;
    }
=======
    int theirs() {
        return 2;
    }
>>>>>>> branch

    int after(int a) {
        return a * 2;
    }
}
