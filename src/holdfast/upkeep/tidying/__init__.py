"""Keeps the memory small and current: proposes which lessons to merge, retitle or retire, and applies what is checked.

`proposal` holds the records, `rules` finds what needs no model, `asking` asks a model over titles, `checks` refuses
what would lose or change something, and `tidy` puts these together. `unattended` decides when the learner does so, and
`branch` puts the steps about shared lessons on a git branch.
"""
