"""The interfaces between use cases and everything outside them: one Protocol a file.

`parts` bundles the ports; every use case receives that bundle.
This room may import `domain`, `lean` and `errors`. A port names no backend, no host and no plug-in.
Begin with `parts`, then `store`. To write a plug-in, begin with the port that it implements.
"""
