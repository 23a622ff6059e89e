"""What to deliver when: one module a moment, on top of `context`, which remembers what the session was told already."""
