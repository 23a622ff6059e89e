"""What a host starts: `<python> -I -S <this file> <host>`. Compiled at each start, so all else is in `client`."""

import gc
import os
import sys

gc.disable()  # a hook is gone before there is anything worth collecting
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from holdfast.surfaces.hooks.client import main  # noqa: E402 - found by the path above

main(sys.argv[1:])
