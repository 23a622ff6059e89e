"""What a host or its launcher starts: `<python> -I -S <this file> <host>`. Compiled at each start, and so short."""

import gc
import os
import sys

gc.disable()  # a hook is gone before there is anything worth collecting
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, SOURCE)
if "site" not in sys.modules and not os.path.isdir(os.path.join(SOURCE, "tree_sitter")):
    import site  # a checkout of the source: the parser is elsewhere

    site.main()

if sys.argv[1:2] == ["--learn"]:
    if "turn" not in sys.argv[3:] and hasattr(os, "fork") and os.fork():
        os._exit(0)  # the other half learns as nobody's child: a host may end a server's children with it
    if hasattr(os, "nice"):
        os.nice(10)  # before it loads its modules: the first hooks of a session often run beside a learner
    from holdfast.surfaces.hooks import learner

    learner.main(sys.argv[2:])
else:
    from holdfast.surfaces.hooks import client

    client.main(sys.argv[1:])
