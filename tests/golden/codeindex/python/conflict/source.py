def before(a):
    return a


<<<<<<< HEAD
def ours():
    return 1
=======
def theirs():
    return 2
>>>>>>> branch


def after(a):
    return a * 2
