#include <stdio.h>
#include "local/part.h"
#ifdef _WIN32
#include <windows.h>
#endif
#include GENERATED
