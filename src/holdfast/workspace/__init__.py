"""What is on the disk and in git: whose project a folder is, blobs, history, changed files, lesson files.

It may touch: `ports` and below. No git command of ours runs a repository's configuration.
Begin with `local`, which implements the port; `identity` says which project a folder belongs to.
"""
