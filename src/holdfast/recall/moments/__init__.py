"""What is delivered when: one module for each moment, on top of `turn`, which minds what a session was told already."""
