# SPDX-License-Identifier: Apache-2.0
# busy.rb - leaves blocks in all ways until its standard input ends: exceptions, ensure, throw, break, return. Prints a line
# when it has begun.
def deep(n)
  raise ArgumentError, 'too deep' if n == 0
  [n].each { |i| deep(i - 1) }
end

def rescues
  deep(3)
rescue ArgumentError
  1
end

def ensures
  begin
    deep(2)
  ensure
    [2, 1].sort_by { |i| -i }
  end
rescue ArgumentError
  2
end

def throws
  catch(:done) { 2.times { |i| [i].each { |n| throw :done, n } } }
end

def breaks
  [3, 4].map { |i| break i if i == 4; i }
end

def returns
  [1, 2].each { |i| return i if i == 2 }
end

def retries
  tries = 0
  begin
    tries += 1
    Integer('none') if tries < 3
  rescue ArgumentError
    retry
  end
end

def main
  loop { rescues; ensures; throws; breaks; returns; retries }
end

Thread.new { $stdin.read; exit!(0) }
puts 'begun'
$stdout.flush
main
