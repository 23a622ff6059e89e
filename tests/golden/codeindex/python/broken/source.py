def before(a):
    return a


def broken(a, b):
    return a +


def after(a):
    return a * 2
