import os
import os.path as osp, sys
from . import sibling
from .. import a as b, c
from .package.module import (
    one,
    two as deux,
)
from everything import *

if True:
    from late import import_


def f():
    import inside.function
