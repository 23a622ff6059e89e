def before(a)
  a
end

<<<<<<< HEAD
def ours
  1
end
=======
def theirs
  2
end
>>>>>>> branch

def after(a)
  a * 2
end
