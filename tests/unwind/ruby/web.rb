# SPDX-License-Identifier: Apache-2.0
# web.rb - a shop: Sinatra under puma, with 5 threads. Prints its port; after a line on standard input, or its end, prints
# how much CPU time each part of the program took since the line before: a name, TAB, seconds.
require 'digest'
require 'erb'
require 'json'
require 'puma'
require 'puma/server'
require 'sinatra/base'
require 'set'

class Web < Sinatra::Base
  PAGE = ERB.new("<ul><% rows.each do |row| %><li><%= ERB::Util.h(row[:name]) %>: <%= '%.2f' % row[:price] %></li><% end %></ul>")
  TIMES = Hash.new(0.0)
  LOCK = Mutex.new

  set :environment, :production
  set :host_authorization, { permitted_hosts: [] } if Sinatra::VERSION >= '4.1'

  # Adds the CPU time of the block to that of the method which calls.
  def timed(name)
    before = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    yield
  ensure
    spent = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - before
    LOCK.synchronize { TIMES[name] += spent }
  end

  def rows(n)
    timed('rows') do
      200.times.map { |i| { name: "<article #{(i * 7919 + n) % 1000}>", price: (i * 31 + n) % 977 / 7.0 } }
         .sort_by { |row| [row[:price], row[:name]] }
    end
  end

  def drawn(rows)
    timed('drawn') { PAGE.result_with_hash(rows: rows) }
  end

  def parsed(n)
    timed('parsed') do
      text = JSON.generate(rows: (0..150).map { |i| { id: i, tags: %W[t#{i} t#{n}] } })
      JSON.parse(text)['rows'].sum { |row| row['tags'].size }
    end
  end

  def priced(n)
    timed('priced') { (0..300).sum { |i| price(i + n) } }
  end

  # Every third article has no price.
  def price(i)
    raise ArgumentError, 'no price' if i % 3 == 0
    Digest::SHA256.hexdigest(i.to_s)[0, 3].to_i(16)
  rescue ArgumentError
    i.to_s.gsub(/[02468]/) { |digit| (digit.to_i / 2).to_s }.to_i
  ensure
    Set.new([i, i + 1]).include?(i)
  end

  get('/rows/:n') { drawn(rows(params['n'].to_i)) }
  get('/parsed/:n') { parsed(params['n'].to_i).to_s }
  get('/priced/:n') { priced(params['n'].to_i).to_s }
end

server = Puma::Server.new(Web)
puts server.add_tcp_listener('127.0.0.1', 0).addr[1]
$stdout.flush
server.run
until $stdin.gets.nil?
  Web::LOCK.synchronize do
    puts Web::TIMES.map { |name, seconds| "#{name}\t#{seconds}" }, ''
    Web::TIMES.clear
  end
  $stdout.flush
end
exit!
