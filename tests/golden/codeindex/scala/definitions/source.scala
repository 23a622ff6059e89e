package com.acme
package web

/** Keeps orders. */
@deprecated("x")
final class Store[T <: Any](private val a: Int, b: String = "x") extends Base(a) with Keeps {
  val plain: Int = 5
  lazy val size: Int = { items.size }

  def this(x: Int) = { this(x, "y") }

  def put[K](key: K, value: Int = 3)(implicit rest: Int*): Boolean = {
    def nested = value
    nested > 0 // enough
  }

  def put(key: Int) = 5

  def run() { println(1) }

  override def +(o: Store): Store = this
  def ::(o: Store): Store = o

  type Key = String

  class Inner {
    def deep() = 1
  }
}

object Store {
  val MaxSize = 3
  val small = 1

  def make = 1
}

case class Point(x: Int)

case object Origin

sealed trait Shape {
  def area: Double
}

object Main extends App

package object tools {
  def twice(x: Int) = x * 2
}

abstract class Keeps {
  def need(x: Int): Int
}
