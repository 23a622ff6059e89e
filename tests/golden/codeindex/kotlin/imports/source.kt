package com.acme

import kotlin.math.PI
import com.foo.*
import com.bar.Baz as Other
