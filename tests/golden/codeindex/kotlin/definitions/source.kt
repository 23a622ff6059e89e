@file:JvmName("Shop")

package com.acme.web

/** Keeps orders. */
@Deprecated("x")
public class Store<T : Any>(private val a: Int, b: String = "x") : Base(a), Keeps by b {
    val plain: Int = 5
    val size: Int get() = items.size
    var other: Int = 1
        @Inject get() { return field }
        private set(value) { field = value }
    val late by lazy { 3 }

    init {
        println("x")
    }

    constructor(x: Int) : this(x, "y") {
        println(x)
    }

    fun <K> put(key: K, value: Int = 3, vararg rest: Int): Boolean where K : Any {
        fun nested() = value
        return nested() > 0 // enough
    }

    fun put(key: Int) = 5

    override operator fun get(i: Int): Int = i

    companion object {
        const val MAX = 3

        fun make() {}
    }

    inner class Inner {
        fun deep() {}
    }
}

class Named {
    companion object Factory : Base() {
        fun make() {}
    }
}

data class Point(val x: Int)

class Bounded<T> where T : Any

class Empty

sealed interface Shape {
    fun area(): Double
}

fun interface Callback {
    fun call()
}

enum class Color(val rgb: Int) {
    RED(1) {
        override fun mix() {}
    },
    BLUE(2);

    open fun mix() {}
}

object Registry : Base() {
    fun add() {}
}

fun String.shout(times: Int): Int = times

fun <T> List<T?>?.second() = 2

val String.half: Int
    get() = length / 2

const val LIMIT = 5

val plain = 1

typealias Handler = (Int) -> Int

internal value class Meters(val x: Int)

fun `a name with spaces`() {
    val runner = object : Runnable {
        override fun run() {}
    }
}
