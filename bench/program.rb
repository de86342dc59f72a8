# The program of the standard job: a function with a loop and a few locals; prints when it ended if asked to.

def tally(words)
  seen = {} # the first stop
  index = 0
  while index < words.size # not `each`: a step over that is a step over the whole loop
    word = words[index]
    seen[word] = seen.fetch(word, 0) + 1
    puts "again #{word}" if seen[word] > 1
    index += 1
  end
  seen
end

counts = tally(%w[a b a c b])
puts counts.size
puts Process.clock_gettime(Process::CLOCK_MONOTONIC) if ARGV.include?('--clock')
