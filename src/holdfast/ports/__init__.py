"""The interfaces between use cases and everything outside them: bundled in `services`.

It may touch: `domain`, `lean` and `errors`. A port names no backend, no host and no plug-in.
Begin with `services`, then `store`. To write a plug-in, begin with the port that it implements.
"""
