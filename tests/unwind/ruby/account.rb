# SPDX-License-Identifier: Apache-2.0
# account.rb CALLS SEED - makes random stacks; at the end of each calls getpgid(), and keeps Ruby's own account of the
# stack. Prints its version, then after a line on standard input all accounts, a line each: label, TAB, path:line; TAB..

Accounts = []

class Shop
  def initialize(random)
    @random = random
  end

  def note
    Accounts << caller_locations(0); Process.getpgid(0)
  end

  def go(depth)
    return note if depth <= 0
    case @random.rand(18)
    when 0 then plain(depth - 1)
    when 1 then [1].each { |n| go(depth - n) }
    when 2 then yields { go(depth - 1) }
    when 3 then proc { go(depth - 1) }.call
    when 4 then ->(n) { go(n) }.(depth - 1)
    when 5 then defined_by_block(depth - 1)
    when 6 then send(:go, depth - 1)
    when 7 then instance_eval { go(depth - 1) }
    when 8
      begin
        raise 'fault'
      rescue RuntimeError
        go(depth - 1)
      end
    when 9
      begin
        1
      ensure
        go(depth - 1)
      end
    when 10 then [2, 1].sort_by { |n| n == 1 ? go(depth - 1) : 0; n }
    when 11 then { a: 1 }.each_pair { |_, n| go(depth - n) }
    when 12 then missing_method(depth - 1)
    when 13 then eval('go(depth - 1)')
    when 14 then 1.times.map { go(depth - 1) }
    when 15 then method(:go).to_proc.call(depth - 1)
    when 16 then Shop.of_class(self, depth - 1)
    when 17 then catch(:done) { go(depth - 1) }
    end
    nil
  end

  def plain(depth)
    go(depth)
  end

  def yields
    x = 1
    x += 1
    yield
  end

  define_method(:defined_by_block) do |depth|
    go(depth)
  end

  def method_missing(name, depth)
    go(depth)
  end

  def respond_to_missing?(*)
    true
  end

  def self.of_class(shop, depth)
    shop.go(depth)
  end
end

calls, seed = ARGV.map(&:to_i)
random = Random.new(seed)
puts RUBY_VERSION
$stdout.flush
$stdin.gets
shop = Shop.new(random)
calls.times do |n|
  if n % 10 == 9
    Thread.new { shop.go(random.rand(40)) }.join
  else
    shop.go(random.rand(40))
  end
end
Accounts.each do |locations|
  puts locations.map { |l| "#{l.label}\t#{l.path}:#{l.lineno}" }.join("\t")
end
