require "json"
require 'acme/web'
require_relative "../lib/store"
load "tasks.rb"
autoload :Later, "acme/later"
require name
if RUBY_VERSION > "3"
  require "late"
end
thing.require "no"
