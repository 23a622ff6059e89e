"""Does an agent act on what it is told? Situations of real sessions, answered under several conditions, judged blind.

`situations` words a situation of a recorded session; `conditions` says what each condition tells, rendered by the
shipped product; `verdicts` makes blind files for a judge and reads the answers; `__main__` has the three steps.
"""
