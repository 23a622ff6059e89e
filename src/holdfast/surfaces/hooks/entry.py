"""What a host starts: `<python> -I -S <this file> <host>`. Compiled at each start, so all else is elsewhere."""

import gc
import os
import sys

gc.disable()  # a hook is gone before there is anything worth collecting
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

if sys.argv[1:2] == ["--learn"]:  # the learner takes the usual, longer way to its modules and their data
    if hasattr(os, "nice"):
        os.nice(10)  # before it loads them: the first hooks of a session often run beside a learner
    from holdfast.surfaces.hooks import learner

    learner.main(sys.argv[2:])
else:
    from holdfast.surfaces.hooks import client

    client.main(sys.argv[1:])
