class Broken {
    int before(int a) {
        return a;
    }

    int broken(int a, int {
        return a +
    }

    int after(int a) {
        return a * 2;
    }
}
