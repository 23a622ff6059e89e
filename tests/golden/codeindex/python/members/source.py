class A:
    x: int = 1
    y = 2
    z: str
    def f(self): ...

app = 3
LIMIT = 2
