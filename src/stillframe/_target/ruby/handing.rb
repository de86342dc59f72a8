# frozen_string_literal: true

# Errors that leave the user's code for a library's, which then handles them, as a server does that answers 500. Ruby tells
# when an error is raised and when a call is over, not by what: that an error has left the last call of the user's is sure
# once the library's next line is one of a rescue or an ensure.

module Stillframe
  module Handing
    # An error on its way, the frames that it was raised in, how deep the call is that it must leave, and from which depth on
    # calls are of an ensure that it leads to, or of what a rescue decides by whether it is meant.
    Way = Struct.new(:error, :frames, :depth, :left, :ensuring, :judging)

    class << self
      def watch(wanted)
        @raised ||= TracePoint.new(:raise) { |tp| follow(tp.raised_exception) unless Thread.current[:stillframe_busy] }
        wanted ? (@raised.enable unless @raised.enabled?) : @raised.disable
      end

      private

      def follow(error)
        Thread.current[:stillframe_way]&.disable
        return if SystemExit === error || SignalException === error

        frames = DEBUGGER__.capture_frames(HERE)
        last = edge(frames)
        return unless last

        way = Way.new(error, Errors.frames_of(error) || frames, last.frame_depth, false, nil)
        trace = TracePoint.new(:line, :return, :b_return) { |tp| went(way, tp, trace) unless Thread.current[:stillframe_busy] }
        Thread.current[:stillframe_way] = trace
        trace.enable(target_thread: Thread.current)
      end

      # The outermost of the innermost calls of the user's, if Ruby code of a library made it; methods in C hand on.
      def edge(frames)
        calls = frames.select(&:iseq)
        first = calls.index { |each| Frames.user?(each) }
        return unless first

        outer = calls[first..].take_while { |each| Frames.user?(each) }
        outer.last if calls[first + outer.size]
      end

      def went(way, trace, follower)
        now = DEBUGGER__.frame_depth - 3
        return line(way, now, trace, follower) if trace.event == :line
        return if now != way.depth || way.left

        trace.return_value.nil? ? way.left = true : follower.disable
      end

      # A line that runs is one of an ensure, or of what that calls; or somebody has rescued the error.
      def line(way, now, trace, follower)
        return if way.ensuring && now > way.ensuring || way.judging && now >= way.judging

        place, caller = caller_locations(3, 2)
        if way.left && caller && Frames.handler?(caller) # RSpec rescues by a module with an `===` of its own
          way.judging = now
        elsif way.left && Frames.handler?(place)
          follower.disable
          show(way)
        elsif !way.left && Frames.leaving?(place)
          way.ensuring = now
        else
          follower.disable
        end
      end

      def show(way)
        client = DEBUGGER__::ThreadClient.current
        client.stillframe_handed = true
        client.suspend(:postmortem, nil, postmortem_frames: way.frames, postmortem_exc: way.error)
      end
    end
  end
end
