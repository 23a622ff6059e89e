"""Measures recall on data sets from outside: `python -m benchmarks.recall --data DIR`.

An adapter (a module named like its set) turns a data set into corpora: lessons to store and questions with the names
of the lessons that answer them. `arena` stores them with the shipped memory and asks it; `baselines` are what it is
compared with; `metrics` scores; `report` tells.
"""
