# frozen_string_literal: true

# Moving a held thread by lines: rdbg stops at the end of every method on the way and inside a function that is finished,
# where people expect the next line that runs and the caller.

module Stillframe
  module Stepping
    # One order to move: for which thread, how, what the call that it left gave back (as [name, value]), and whether it is done.
    Step = Struct.new(:client, :move, :returned, :over)

    @plans = {}
    @ended = {}
    LAST = { 'text' => 200, 'items' => 20, 'seconds' => 1 }.freeze

    class << self
      # The value that a function gave back which a step of this thread left, as [name, value].
      def returned(client)
        @step.returned if @step&.client.equal?(client)
      end

      # What became of a step that the program's end has overtaken: the call that it was in is over, and this is its value.
      def last_words
        name, value = @step.returned if @step && !@step.over
        "#{name} returned #{Desk.values.told(name, value, LAST)[:value]}, and nothing of your code went on with that" if name
      end

      # Whether this thread is held at the end of a call that no code of the user's goes on with.
      def at_end?(number)
        @ended.key?(number)
      end

      # Note what a held thread is to do once it goes on.
      def plan(client, move)
        @plans[client.id] = @step = Step.new(client, move)
      end

      # Somebody sends the program on anew: a step that a stop of another thread has overtaken is not to be told of any more, be
      # it that its thread has not begun it, is under way, or has just come to its end and waits to be told. Its trace ends
      # itself: Ruby 3.1 may crash where one thread disables what runs in another.
      def overtake
        late = @step
        @step = nil
        late.client.stillframe_announced = :overtaken if late&.client&.stillframe_announced == :step
      end

      # Called in the thread itself as soon as it goes on; those that were only held along with it come here, too.
      def resumed(client)
        ended = @ended.delete(client.id)
        step = @plans.delete(client.id)
        start(step, client.stillframe_frames, ended) if step && step.equal?(@step)
      end

      # Whether a step came to this line and judged the breakpoint there before its own trace did.
      def judged_already?(spot)
        done = Thread.current[:stillframe_judged]
        Thread.current[:stillframe_judged] = nil
        done.equal?(spot)
      end

      # A trace that calls once the thread that asks for it comes to a line of the user's code.
      def at_first_line
        trace = TracePoint.new(:line) do |tp|
          next if Thread.current[:stillframe_busy] || Frames.library?(tp.path)

          trace.disable
          yield
        end
        trace.enable(target_thread: Thread.current)
        trace
      end

      private

      # Follow the thread until its move is done. A call that an error leaves is told as one that gives back nil: then, and
      # while an error may be under way, nothing is called its value.
      def start(step, frames, ended)
        frame = frames.first
        move = ended ? :step : step.move # after an end: whatever of the user's is called next
        bottom = ended ? nil : bottom_of(frames)
        name = frame ? Frames.function(frame) : ''
        depth = frame&.frame_depth || 0
        erred = frame && Frames.handler?(frame.location)
        depth -= 1 if erred
        again = frame ? Frames.beginnings(frame.iseq, frame.location.lineno) - 1 : 0
        raised = frame && Frames.leaving?(frame.location)
        over = ended
        trace = TracePoint.new(:line, :raise, :return, *(:b_return if move == :finish || bottom)) do |tp|
          next trace.disable unless step.equal?(@step)
          next if Thread.current[:stillframe_busy]

          now = DEBUGGER__.frame_depth - 2
          case tp.event
          when :line
            # A line of several statements begins several times.
            next if now == depth && frame && tp.lineno == frame.location.lineno && (again -= 1) >= 0

            again = 0
            here = caller_locations(1, 1)&.first if erred
            raised &&= Frames.leaving?(here)
            arrived(step, trace, tp) if due?(move, here && Frames.handler?(here) ? now - 1 : now, depth, tp)
          when :raise then raised = erred = true
          else
            if !over && now == depth && (tp.event == :return || move == :finish || now == bottom)
              over = true
              step.returned = [name, tp.return_value] unless raised && tp.return_value.nil?
            end
            halt(step, trace, tp) if now == bottom && !Frames.library?(tp.path)
          end
        end
        trace.enable(target_thread: Thread.current)
      end

      # How deep the user's call is that no code of the user's made, as a server calls a handler: behind its end there may
      # be no line to come to, so that a step is held there. What runs at the top level of a file tells no end.
      def bottom_of(frames)
        return unless frames.first && mine?(frames.first)

        last = frames.reverse_each.find { |each| mine?(each) }
        return if last.iseq.nil? || %i[main top].include?(Frames.kind(last.iseq))

        last.frame_depth - (Frames.handler?(last.location) ? 1 : 0)
      end

      def mine?(frame)
        Frames.user?(frame) || (SETTINGS['STILLFRAME_RUBY_ALL'] == '1' && !frame.iseq.nil?)
      end

      # Hold the thread where its step ends, unless that was overtaken. It is announced first, so that `overtake` sees it.
      def hold(step, trace, point)
        step.client.stillframe_announced = :step
        return step.client.stillframe_announced = nil unless step.equal?(@step)

        finish(step, trace)
        step.client.suspend(point.event, point)
      end

      # The same at the end of a call that no code of the user's goes on with.
      def halt(step, trace, point)
        @ended[step.client.id] = true if step.equal?(@step)
        hold(step, trace, point)
      end

      def finish(step, trace)
        trace.disable
        step.over = true
      end

      def due?(move, now, depth, trace)
        near = { next: now <= depth, step: true, finish: now < depth }.fetch(move)
        near && (SETTINGS['STILLFRAME_RUBY_ALL'] == '1' || !Frames.library?(trace.path))
      end

      # A breakpoint on the line is what stops, if it is due; else the step does.
      def arrived(step, trace, point)
        spot = Desk.spot_at(File.absolute_path(point.path), point.lineno)
        due = spot&.due?(point.binding)
        Thread.current[:stillframe_judged] = spot
        return hold(step, trace, point) unless due

        finish(step, trace)
        step.client.on_breakpoint(point, spot)
      end
    end
  end
end
