def before(a)
  a
end

def broken(a, b)
  a + (
end

def after(a)
  a * 2
end
