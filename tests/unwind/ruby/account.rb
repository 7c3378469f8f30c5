# SPDX-License-Identifier: Apache-2.0
# account.rb CALLS SEED - makes CALLS random stacks and some more; at the end of each calls getpgid(), and keeps Ruby's own
# account of the stack. Prints its version, then after a line on standard input the names of all methods with their
# classes, separated by TAB, and all accounts, a line each: label, TAB, path:line; TAB..

Accounts = []

# Methods of modules: Stock's belong to it in both classes, Tools' also to itself.
module Stock
  def count(depth)
    go(depth)
  end
end

module Tools
  module_function def lend(shop, depth)
    shop.go(depth)
  end
end

class Shop
  include Stock
  include Tools

  def initialize(random)
    @random = random
  end

  def note
    Accounts << caller_locations(0); Process.getpgid(0)
  end

  def go(depth)
    return note if depth <= 0
    case @random.rand(WAYS)
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
    when 18 then count(depth - 1)
    when 19 then lend(self, depth - 1)
    when 20 then Tools.lend(self, depth - 1)
    when 21 then matches(depth - 1)
    when 22 then (@own ||= with_own_method).own(depth - 1)
    when 23 then Shop.by_name(self, depth - 1)
    when 24 then nested(depth - 1)
    when 25 then made_by_method(depth - 1)
    when 26 then COPY.new(@random).plain(depth - 1)
    when 27 then Shop::ANONYMOUS.first.new.call(self, depth - 1)
    when 28 then Branch::Small.new(@random).count(depth - 1)
    when 29 then eval('[1].each { |n| eval("go(depth - n)") }')
    when 30 then eval("begin; raise 'fault'; rescue; go(depth - 1); end")
    when 31 then Fiber.new { go(depth - 1) }.resume
    when 32 then Enumerator.new { |y| y << go(depth - 1) }.next
    when 33 then (1..1).lazy.map { |n| go(depth - n) }.first
    when 34 then in_two_fibers(depth - 1)
    when 35 then $scheduled ? go(depth - 1) : Thread.new { go(depth - 1) }.join
    when 36 then class_evaluated(depth - 1)
    when 37 then ensured(depth - 1)
    end
    nil
  end

  WAYS = 38
  ANONYMOUS = [Class.new { def call(shop, depth); shop.go(depth); end }]

  # The match is kept where the frame has its method.
  def matches(depth)
    'shop' =~ /s(.)op/
    yields { go(depth) } if $1
  end

  def with_own_method
    shop = Shop.new(@random)
    def shop.own(depth)
      yields { go(depth) }
    end
    shop
  end

  class << self
    def by_name(shop, depth)
      1.times { shop.go(depth) }
    end

    def make
      define_method(:made_by_method) { |depth| yields { yields { go(depth) } } }
    end
  end
  make

  class_eval 'def class_evaluated(depth); [1].each { go(depth) }; end'

  def nested(depth)
    begin
      raise 'fault'
    rescue RuntimeError
      begin
        yields { raise ArgumentError }
      rescue ArgumentError
        begin
          1
        ensure
          yields { go(depth) }
        end
      ensure
        go(0)
      end
    end
  end

  def ensured(depth)
    begin
      raise 'fault'
    ensure
      yields { go(depth) }
    end
  rescue RuntimeError
    nil
  end

  # The second fiber runs while the first one is in the middle of its stack.
  def in_two_fibers(depth)
    first = Fiber.new do
      yields { Fiber.yield }
      go(depth / 2)
    end
    second = Fiber.new do
      first.resume
      go(depth / 2)
      first.resume
    end
    second.resume
  end

  def with_scheduler(depth)
    $scheduled = true
    Thread.new do
      Fiber.set_scheduler(Scheduler.new)
      Fiber.schedule { sleep(0); go(depth) }
      Fiber.schedule { go(depth) }
    end.join
    $scheduled = false
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

# Runs fibers that sleep once the thread's other code has ended.
class Scheduler
  def initialize
    @ready = []
  end

  def fiber(&block)
    fiber = Fiber.new(blocking: false, &block)
    fiber.resume
    fiber
  end

  def kernel_sleep(*)
    @ready << Fiber.current
    Fiber.yield
  end

  def close
    @ready.shift.resume until @ready.empty?
  end

  def block(*)
    Fiber.yield
  end

  def unblock(_, fiber)
    @ready << fiber
  end

  def io_wait(*)
  end
end

module Branch
  class Small < Shop
  end
end
COPY = Shop.dup

calls, seed = ARGV.map(&:to_i)
random = Random.new(seed)
puts RUBY_VERSION
$stdout.flush
$stdin.gets
shop = Shop.new(random)
calls.times do |n|
  if n % 10 == 9
    Thread.new { shop.go(random.rand(40)) }.join
  elsif n % 10 == 8 && Fiber.respond_to?(:set_scheduler)
    shop.with_scheduler(random.rand(40))
  else
    shop.go(random.rand(40))
  end
end
puts ObjectSpace.each_object(Module).select(&:name).flat_map { |m|
  (m.instance_methods(false) + m.private_instance_methods(false)).map { |name| "#{m.name}##{name}" } +
    m.singleton_methods(false).map { |name| "#{m.name}.#{name}" }
}.join("\t")
Accounts.each do |locations|
  puts locations.map { |l| "#{l.label}\t#{l.path}:#{l.lineno}" }.join("\t")
end
