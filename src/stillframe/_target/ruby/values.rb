# frozen_string_literal: true

# One line for each value, bounded; code of the program that a value brings (its inspect) runs no longer than allowed.

module Stillframe
  class TookTooLong < Exception; end # rubocop:disable Lint/InheritException

  # Interrupts a thread that runs code of the program for longer than it may.
  class Watchdog
    def initialize
      @jobs = Queue.new
      @thread = Thread.new { watch }
      @thread.name = 'stillframe watchdog'
    end

    attr_reader :thread

    def within(seconds)
      job = { thread: Thread.current, until: now + seconds, done: false }
      @jobs << job
      yield
    ensure
      job[:done] = true
      @thread.wakeup
    end

    private

    def watch
      while (job = @jobs.pop)
        sleep(job[:until] - now) while !job[:done] && now < job[:until]
        job[:thread].raise(TookTooLong) unless job[:done]
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  # Makes lines of values, and remembers those of which more can be seen.
  class Values
    DEPTH = 3

    def initialize(watchdog)
      @watchdog = watchdog
      @kept = {}
    end

    def forget
      @kept.clear
    end

    def kept(number)
      @kept.fetch(number) { raise Refusal.new('stale', "no value #{number}") }
    end

    def told(name, object, bounds)
      cut = [false]
      line = line_of(object, bounds, cut, 0)
      value = { name: name.to_s, type: class_of(object).name.to_s, value: line }
      value[:total] = size_of(object) if size_of(object)
      value.merge!(truncated: true, ref: keep(object)) if cut[0]
      value
    rescue TookTooLong
      { name: name.to_s, type: class_of(object).name.to_s, value: "its inspect took longer than #{bounds['seconds']} s", error: true }
    rescue StandardError, NotImplementedError, SystemStackError => e
      { name: name.to_s, type: class_of(object).name.to_s, value: "its inspect raised #{e.class}", error: true, ref: keep(object) }
    end

    # What an object is made of, in order: pairs of a name and a value.
    def parts(object)
      case object
      when Array then object.each_with_index.map { |each, index| [index.to_s, each] }
      when Hash then object.map { |key, each| [key.inspect, each] }
      when Struct then object.members.zip(object.to_a)
      else fields(object)
      end
    end

    private

    def keep(object)
      number = @kept.size + 1
      @kept[number] = object
      number
    end

    def class_of(object)
      Kernel.instance_method(:class).bind_call(object)
    rescue TypeError # a BasicObject
      BasicObject
    end

    def fields(object)
      names = Kernel.instance_method(:instance_variables).bind_call(object)
      names.map { |name| [name, Kernel.instance_method(:instance_variable_get).bind_call(object, name)] }
    rescue TypeError
      []
    end

    def size_of(object)
      case object
      when Array, Hash then object.size
      end
    end

    def line_of(object, bounds, cut, depth)
      case object
      when nil, true, false, Numeric, Symbol, Range then shortened(object.inspect, bounds, cut)
      when String then text_of(object, bounds, cut)
      when Array then row(object, '[', ']', bounds, cut, depth) { |each| line_of(each, bounds, cut, depth + 1) }
      when Hash
        row(object, '{', '}', bounds, cut, depth) do |pair|
          pair.map { |each| line_of(each, bounds, cut, depth + 1) }.join('=>')
        end
      else line_of_other(object, bounds, cut, depth)
      end
    end

    def line_of_other(object, bounds, cut, depth)
      return "#<#{class_of(object)}>" unless Kernel === object
      return shortened(object.name || object.inspect, bounds, cut) if Module === object

      plain = object.method(:inspect).owner == Kernel
      return shortened(@watchdog.within(bounds['seconds']) { object.inspect.to_s }, bounds, cut) unless plain

      found = fields(object)
      return "#<#{class_of(object)}>" if found.empty?

      row(found, "#<#{class_of(object)} ", '>', bounds, cut, depth) do |pair|
        "#{pair[0]}=#{line_of(pair[1], bounds, cut, depth + 1)}"
      end
    end

    def text_of(string, bounds, cut)
      whole = string.size <= bounds['text']
      cut[0] = true unless whole
      whole ? string.inspect : "#{string[0, bounds['text']].inspect[0..-2]}…\""
    end

    def row(items, open, close, bounds, cut, depth)
      if depth >= DEPTH
        cut[0] = true
        return "#{open}…#{close}"
      end
      shown = []
      items.each do |item|
        if shown.size >= bounds['items'] || shown.sum(&:size) > bounds['text']
          cut[0] = true
          shown << '…'
          break
        end
        shown << yield(item)
      end
      "#{open}#{shown.join(', ')}#{close}"
    end

    def shortened(line, bounds, cut)
      line = line.scrub.gsub("\n", ' ')
      return line if line.size <= bounds['text']

      cut[0] = true
      "#{line[0, bounds['text'] - 1]}…"
    end
  end
end
