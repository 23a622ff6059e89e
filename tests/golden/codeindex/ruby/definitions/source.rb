# frozen_string_literal: true

# A shop.
module Acme
  module Web::Deep
    CONST = 5

    class Store < Base
      include Comparable
      attr_reader :a, :b
      LIMITS = [1, 2].freeze

      def initialize(a, b = 1, *rest, c: 2, d:, **more, &blk)
        @a = a # kept
      end

      def size = @a

      def self.make(x)
        new(x)
      end

      class << self
        def build
          make(1)
        end
      end

      define_method(:dynamic) { |x| x }

      define_method "later" do |y = 1|
        y
      end

      private def hidden
        1
      end

      private

      def ==(other)
        true
      end

      def [](at) = at

      def value=(v)
        @value = v
      end

      def empty?
        false
      end

      def Other.sing
      end
    end

    Point = Struct.new(:x, :y) do
      def distance
        x + y
      end
    end

    Failure = Class.new(StandardError)
  end
end

class Acme::Other; def one() = 1; end

class ::Rooted
end

def top a, b
  text = <<~TEXT
    hello #{a}
  TEXT
  text + b
end

def top(a)
  a
end

=begin
def commented
end
=end

lower = Object.new
def lower.single
  1
end
__END__
def data
end
