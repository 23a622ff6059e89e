package com.acme

enum Color(val rgb: Int):
  case Red extends Color(1)
  case Blue

  def mix(other: Color): Color =
    val sum = rgb + other.rgb
    fromSum(sum)

extension (s: String)
  def shout(times: Int): String = s * times

given ordering: Ordering[Int] with
  def compare(x: Int, y: Int): Int = 0

class Quiet:
  def one(a: Int = 1): Int =
    if a > 0 then
      a
    else
      0

def top(a: Int): Int =
  a + 1

val Limit = 5
type Alias = Int
