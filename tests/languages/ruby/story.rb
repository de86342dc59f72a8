# The story's program: every language has one that does the same, with the same names and the same marks.

def price(item, count)
  cost = item.size * count # @cost
  cost # @return
end

def tally(words)
  seen = {} # @empty
  while (word = words[seen.values.sum]) # @for
    seen[word] = seen.fetch(word, 0) + 1 # @tally
  end
  seen # @seen
end

def shop
  total = 0 # @total
  count = 0
  while (count += 1) < 7
    total += price('fig', count) # @loop
    puts "so far #{total}" # @print
  end
  numbers = (0...100).to_a
  return total + numbers[0] # @numbers
end

def fail(total)
  raise ArgumentError, "too much: #{total}" # @raise
end

def careful
  fail(1)
rescue ArgumentError
  'recovered' # @recovered
end

def spin
  turns = 0
  puts 'spinning'
  $stdout.flush
  while true
    turns += 1 # @spin
  end
end

def worker
  mine = 'of the worker'
  puts mine # @worker
end

def main(what)
  case what
  when 'shop'
    total = shop
    puts "done #{total}" # @done
  when 'tally' then puts tally(%w[a b a]).inspect
  when 'fail' then fail(2000)
  when 'careful' then puts careful
  when 'spin' then spin
  when 'thread'
    thread = Thread.new { worker }
    thread.name = 'helper'
    thread.join
  end
  what == 'seven' ? 7 : 0 # @exit
end

$stdout.sync = true
exit main(ARGV[0])
