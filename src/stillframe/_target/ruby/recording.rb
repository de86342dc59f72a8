# frozen_string_literal: true

# The way back in time: the lines that the main thread ran, each with its frames and what their variables held.

module Stillframe
  module Recording
    MOST = 20_000
    DEEPEST = 40
    BLANK = proc { Kernel.binding } # a scope without variables of its own
    Moment = Struct.new(:frames, :depth)

    class << self
      attr_reader :client

      def wanted?
        SETTINGS['STILLFRAME_RUBY_RECORD'] == '1'
      end

      def replaying?(client)
        client.equal?(@client) && !@at.nil?
      end

      def frames
        moment = @log[@at]
        moment.frames.each { |each| each.binding ||= scope(each) }
      end

      # Called in the thread whose lines are recorded from here on.
      def start(client)
        @client = client
        @log = []
        thread = Thread.current
        @trace = TracePoint.new(:line) do |tp|
          note unless Thread.current != thread || Thread.current[:stillframe_busy] || Frames.library?(tp.path)
        end
        @trace.enable
      end

      # Go through what was recorded: the reason for which it stops there, and what is to be said of it.
      def move(client, how)
        raise Refusal.new('unknown', 'nothing is recorded of this thread') unless client.equal?(@client)

        backwards = %w[stepBack reverseContinue].include?(how)
        @present = present(client) if @at.nil?
        here = @at || @present
        depth = @at ? @log[@at].depth : client.stillframe_frames.size
        found = (backwards ? (0...here).to_a.reverse : (here + 1...@log.size)).find { |at| due?(at, how, depth) }
        settle(backwards, found, how)
      end

      private

      def note
        frames = DEBUGGER__.capture_frames(HERE)
        kept = frames.first(DEEPEST).each do |each|
          next unless (scope = each.binding)

          each._local_variables = scope.local_variables.to_h { |name| [name, scope.local_variable_get(name)] }
          each._callee = scope.eval('__callee__')
          each.binding = nil
        end
        @log.shift if @log.size >= MOST
        @log << Moment.new(kept, frames.size)
      end

      # The place of the line that is about to run: it has been recorded, unless an error, or the end of a call, holds the
      # program before it could be.
      def present(client)
        last = @log.last&.frames&.first
        live = client.stillframe_frames.first
        same = last && live && [last.path, last.location.lineno] == [live.path, live.location.lineno]
        same ? @log.size - 1 : @log.size
      end

      def due?(at, how, depth)
        moment = @log[at]
        case how
        when 'stepBack', 'next' then moment.depth <= depth
        when 'stepIn' then true
        when 'stepOut' then moment.depth < depth
        else held?(moment.frames.first)
        end
      end

      def held?(frame)
        spot = Desk.spot_at(frame.realpath || frame.path, frame.location.lineno)
        return false if spot.nil? || spot.wish['logMessage']

        condition = spot.wish['condition']
        condition.nil? || scope(frame).eval(condition)
      rescue StandardError, ScriptError
        false
      end

      def settle(backwards, found, how)
        if found
          @at = found == @present ? nil : found
          return [%w[continue reverseContinue].include?(how) ? 'breakpoint' : 'step', []]
        end

        @at = backwards && !@log.empty? ? 0 : nil
        ['no-history', [backwards ? 'this is where the recording begins' : 'this is where the recording ends']]
      end

      # The variables of a frame as they were, for whoever looks at them or evaluates something.
      def scope(frame)
        made = frame.self.instance_exec(&BLANK)
        (frame._local_variables || {}).each { |name, value| made.local_variable_set(name, value) }
        made
      end
    end
  end
end
