"""What a host starts: `<python> -I -S <this file> <host>`. Compiled at each start, so all else is in `client`."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from holdfast.surfaces.hooks.client import main

main(sys.argv[1:])
