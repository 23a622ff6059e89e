"""What use cases need from outside: one Protocol a file, and `parts`, the bundle of them that every use case is given.

It may touch: `domain`. A port names no backend, no host and no plug-in.
Begin with `parts`, then `store`; who adds a plug-in begins with the port that it implements.
"""
