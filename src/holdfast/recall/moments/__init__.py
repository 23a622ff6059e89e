"""What to deliver when: one module a moment, on top of `turn`, which remembers what the session was told already."""
