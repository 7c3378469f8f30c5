# SPDX-License-Identifier: Apache-2.0
# Minor collections free the code. The names of its functions and classes get the room of earlier ones, too.
$stdin.read
GC.auto_compact = true if GC.respond_to?(:auto_compact=)
kept = []
ARGV[0].to_i.times do |i|
  name = format('f%06d', i)
  if i.even?
    m = Module.new
    m.module_eval("def self.#{name}(n); s = 0; k = 0; while k < n; s += k % 7; k += 1; end; s; end", name + '.rb', 1)
    m.send(name, 20000)
  else
    m = Object.const_set('C' + name, Class.new)
    m.class_eval('def run(n); s = 0; k = 0; while k < n; s += k % 7; k += 1; end; s; end', 'same.rb', 1)
    m.new.run(20000)
    Object.send(:remove_const, 'C' + name)
  end
  m = nil
  kept[i % 50] = Array.new(300) { |k| "x#{k}" }
  GC.compact if i % 100 == 0
end
