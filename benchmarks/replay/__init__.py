"""Replays real sessions of a team in order of time and scores what was learnt and what was shown.

`python -m benchmarks.replay --data DIR` reads a catalog of sessions, their lessons as careful readers listed them
(gold), and the moments at which a later session needed one (needs). `catalog` and `repository` load them; `firings`
turns a transcript into the hooks its host fired; `shipped` is the only module that calls the product; `player` plays;
`record` keeps what happened; `scoring` scores, `report` words it; `sample` prints lessons and deliveries to read.
"""
