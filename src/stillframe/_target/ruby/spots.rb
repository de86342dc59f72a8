# frozen_string_literal: true

# Breakpoints that count, log and judge their condition here: lines, functions and exceptions.

module Stillframe
  # What one breakpoint wants besides its place, and whether it is to stop now.
  module Terms
    attr_reader :number, :wish

    # Why a wish can never come true: a condition that is no Ruby; nil where it may.
    def self.fault(wish)
      RubyVM::InstructionSequence.compile(wish['condition'] || '', '(stillframe)')
      nil
    rescue SyntaxError => e
      "its condition: #{e.message.lines.first.to_s.chomp.delete_prefix('(stillframe):1: ')}"
    end

    # Only that it is to be no more: it goes the next time that the program comes to it. Ruby 3.1 frees at once what it keeps
    # with the code of a place, also where a thread is held that will look there as soon as it goes on, and crash.
    def delete
      @deleted = true
    end

    # True where the program is to be held: the condition holds, for the right time, and nothing is to be logged instead.
    def due?(scope)
      return false if Thread.current[:stillframe_busy]

      holds = judged(scope)
      return false unless holds
      return true if holds == :raised

      @count = (@count || 0) + 1
      return false unless counted?
      return true unless wish['logMessage']

      Desk.event(kind: 'log', id: number, text: logged(scope))
      false
    end

    private

    def judged(scope)
      condition = wish['condition']
      return true if condition.nil? || condition.empty?

      Desk.busy { scope.eval(condition) } ? true : false
    rescue StandardError, ScriptError => e
      reason = "#{e.class}: #{e.message.lines.first&.chomp}"
      Desk.event(kind: 'condition_error', id: number, threadId: Desk.thread_number, message: reason)
      :raised
    end

    def counted?
      case wish['hitCondition']
      when nil then true
      when /\A>= (\d+)/ then @count >= $1.to_i
      when /\A% (\d+)/ then (@count % $1.to_i).zero?
      else @count == wish['hitCondition'].to_i
      end
    end

    def logged(scope)
      wish['logMessage'].gsub(/\{\{|\}\}|\{([^{}]*)\}/) do |found|
        next found[0] unless $1

        value = Desk.busy { scope.eval($1) }
        value.is_a?(String) ? value : value.inspect
      rescue StandardError, ScriptError => e
        "<#{e.class}: #{e.message.lines.first&.chomp}>"
      end
    end
  end

  # A line, as rdbg finds it in loaded code or waits for it to be loaded.
  class LineSpot < DEBUGGER__::LineBreakpoint
    include Terms

    def initialize(path, wish, number)
      @wish = wish
      @number = number
      super(path, wish['line'])
      @key = [:stillframe, number].freeze
    end

    def setup
      return unless @type

      @tp = TracePoint.new(@type) do |tp|
        next disable if deleted?
        next if Stepping.judged_already?(self)

        suspend if due?(tp.binding)
      end
    end

    def by_line?
      @type == :line
    end

    def told
      { id: number, verified: !iseq.nil?, line: line }
    end

    def activate(iseq, event, line)
      super
      @key = [:stillframe, number].freeze
      DEBUGGER__::SESSION.rehash_bps
    end
  end

  # A function by its name: known at once, or as soon as something of that name is called.
  class FunctionSpot < DEBUGGER__::Breakpoint
    include Terms

    def initialize(wish, number)
      @wish = wish
      @number = number
      @key = [:stillframe, number].freeze
      super(true)
    end

    def told
      { id: number, verified: true }
    end

    # Where the function is, if there is one by now, although its condition may never have held.
    def place
      where = @called || Answers.symbol(wish['name'])
      where && { id: number, **where }
    end

    def setup
      @method = Functions.find(wish['name'])
      @tp = TracePoint.new(:call) do |tp|
        next disable if deleted?
        next unless @method || Functions.named?(tp, wish['name'])

        @called ||= { file: File.absolute_path(tp.path), line: tp.lineno }
        suspend if due?(tp.binding)
      end
    end

    def enable
      @method ? @tp.enable(target: @method) : @tp.enable
    rescue ArgumentError # a method without instructions of its own, as attr_reader makes
      @method = nil
      @tp.enable
    end
  end

  # Where code of the user ends the program, and not well: `exit`, `abort` and their like, which raise SystemExit.
  class LeavingSpot < DEBUGGER__::Breakpoint
    NAME = 'Kernel#exit'

    attr_reader :wish, :last_exc

    def initialize(wish)
      @wish = wish
      @key = [:stillframe, NAME].freeze
      super(true)
    end

    def told
      { verified: true }
    end

    def setup
      @tp = TracePoint.new(:raise) do |tp|
        error = tp.raised_exception
        next unless SystemExit === error && !error.success? && !error.equal?(@last_exc) && !Thread.current[:stillframe_busy]
        @last_exc = error
        hold(tp.path)
      end
    end

    private

    # A library that ends the program for an error of the user's, as rake does, is no news: that error is.
    def hold(path)
      return Errors.show(last_exc.cause) if last_exc.cause && Frames.library?(path)

      suspend unless caller_locations.all? { |each| Frames.library?(each.absolute_path || each.path) }
    end
  end

  # Whether an error is caught nobody knows when it is raised: its frames are kept, and shown when the program dies of it.
  module Errors
    MOST = 8
    @kept = []

    class << self
      def watch(wanted)
        @trace ||= TracePoint.new(:raise) { |tp| keep(tp.raised_exception) unless Thread.current[:stillframe_busy] }
        wanted ? (@trace.enable unless @trace.enabled?) : @trace.disable
      end

      # At the very end of the program: hold it there, with the frames of the error that ends it.
      def last_stop(error)
        return unless @trace&.enabled? && error && !(SystemExit === error) && !(SignalException === error)

        @trace.disable
        show(error)
      end

      # Hold the program with the frames that an error was raised in.
      def show(error)
        frames = frames_of(error)
        frames ||= error.backtrace_locations&.map { |each| Frames::Gone.new(each) } # a stack that overflowed tells nobody else
        return unless frames

        DEBUGGER__::ThreadClient.current.suspend(:postmortem, nil, postmortem_frames: frames, postmortem_exc: error)
      end

      # The frames that an error was first raised in, if they are known.
      def frames_of(error)
        @kept.reverse.find { |each, _frames| each.equal?(error) }&.last
      end

      private

      def keep(error)
        return if SystemExit === error || @kept.any? { |each, _frames| each.equal?(error) }

        @kept.shift if @kept.size >= MOST
        @kept << [error, DEBUGGER__.capture_frames(HERE)]
      end
    end
  end

  # Errors as they are raised.
  class ErrorSpot < DEBUGGER__::CatchBreakpoint
    def initialize(any, classes)
      @any = any
      @classes = classes
      super('Exception')
      @key = [:stillframe, :errors].freeze
    end

    def setup
      @tp = TracePoint.new(:raise) do |tp|
        error = tp.raised_exception
        next if SystemExit === error || Thread.current[:stillframe_busy] || Frames.library?(tp.path)
        next unless @any || error.class.ancestors.any? { |each| named?(each) }

        @last_exc = error
        suspend
      end
    end

    private

    def named?(ancestor)
      name = ancestor.name
      @classes.include?(name) || @classes.any? { |each| name&.end_with?("::#{each}") }
    end
  end

  # Methods by the names that people give them: `total`, `Shop#total`, `Shop.total`, `Shop::total`.
  module Functions
    NAME = /\A(?:(?<owner>[A-Z]\w*(?:::[A-Z]\w*)*)(?<mark>[#.]|::))?(?<method>[^#.:\s]+)\z/

    module_function

    def find(name)
      return nil unless (parts = NAME.match(name))

      parts[:owner] ? owned(parts) : free(parts[:method].to_sym)
    end

    def named?(call, name)
      return false unless (parts = NAME.match(name)) && call.method_id == parts[:method].to_sym
      return !Frames.library?(call.path) unless parts[:owner]

      known = [parts[:owner], "#<Class:#{parts[:owner]}>"] # of itself, or what it hands on to classes below it
      [call.defined_class, call.self].any? { |each| Module === each && known.include?(Frames::PLAIN.bind_call(each)) } ||
        call.self.class.ancestors.any? { |each| each.name == parts[:owner] }
    end

    def owned(parts)
      owner = Object.const_get(parts[:owner])
      name = parts[:method].to_sym
      if parts[:mark] == '#'
        owner.instance_method(name)
      elsif owner.singleton_class.method_defined?(name)
        owner.method(name)
      elsif owner.method_defined?(name) || owner.private_method_defined?(name)
        owner.instance_method(name)
      end
    rescue NameError # not defined yet
      nil
    end

    # A bare name: of the top level, else of the one class of the program that has it.
    def free(name)
      return Object.instance_method(name) if Object.private_method_defined?(name, false) || Object.method_defined?(name, false)

      homes = ObjectSpace.each_object(Module).select do |each|
        each.method_defined?(name, false) || each.private_method_defined?(name, false)
      rescue StandardError
        false
      end
      found = homes.map { |each| each.instance_method(name) }.reject { |each| Frames.library?(each.source_location&.first) }
      found.size == 1 ? found[0] : nil
    end
  end
end
