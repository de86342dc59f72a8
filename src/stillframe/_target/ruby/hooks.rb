# frozen_string_literal: true

# Where our code sits in rdbg: every private name of debug 1.4.0 that we lean on is in this file and in `fits?`.

module Stillframe
  module Hooks
    ONWARD = %w[continue next stepIn stepOut stepBack].freeze
    RDBG = File.dirname(DEBUGGER__::ThreadClient.instance_method(:wait_reply).source_location.first)
    @held = {}

    class << self
      # Thread number to the client of each thread that is held.
      attr_reader :held

      # Whether somebody has sent the program on since its last stop was told, though its threads may not have left that stop yet.
      attr_accessor :sent_on

      # Whether code of the user was loaded: from then on a pause may come to a library, too.
      attr_accessor :begun

      # Who brought us here has muted the pauses that were left of that conversation.
      def hear_again
        DEBUGGER__::SESSION.managed_thread_clients.each do |client|
          client.singleton_class.remove_method(:on_trap) if client.singleton_methods(false).include?(:on_trap)
        end
      end

      # The error that a breakpoint is for, and what became of it by then.
      def error_of(spot)
        [spot.last_exc, LeavingSpot === spot ? 'exit' : 'raised'] if ErrorSpot === spot || LeavingSpot === spot
      end

      def thread_name(client)
        client.thread.name || (client.thread == Thread.main ? 'main' : "thread #{client.id}")
      end
    end

    # On the side of the conversation.
    module Line
      def dap_setup(bytes)
        @stillframe_writing = Mutex.new
        @stillframe_connected = false
        Thread.pass until DEBUGGER__.const_defined?(:SESSION) # the door is open before the session has its name
        Desk.prepare(self)
        Hooks.hear_again
        super
      end

      def send(**message)
        @stillframe_writing.synchronize { super if @sock }
      rescue SystemCallError, IOError, NoMethodError
        raise if @sock && $!.is_a?(NoMethodError) # else the other side has gone, as the reader has found out just now
      end

      def send_response(request, success: true, message: nil, **body)
        if request['command'] == 'initialize' && success
          body = { **Desk::OFFERS, supportsStepBack: Recording.wanted? }
        end
        super
      end

      def recv_request
        loop do
          request = super
          if request && ONWARD.include?(request['command'])
            Hooks.sent_on = true
            Stepping.overtake
          end
          return request if request.nil? || !Desk.answered?(request)
        end
      end

      # rdbg holds the program as soon as somebody connects; ours is held already, before its first line.
      def pause
        @stillframe_connected ? super : @stillframe_connected = true
      end

      # Without anybody who could say what is to be done, the program goes on.
      def readline(*)
        @q_msg&.pop || 'continue'
      end

      def stillframe_continue
        @q_msg << 'c'
      end

      def event(type, *args)
        case type
        when :suspend_bp
          _index, spot, thread = args
          stopped(spot.respond_to?(:last_exc) ? 'exception' : 'breakpoint', thread, spot)
        when :suspend_trap then stopped('pause', args[1])
        when :suspended then stopped(nil, args[0])
        end
      end

      def stopped(reason, thread, spot = nil, notes: [])
        client = Hooks.held[thread]
        reason ||= client&.stillframe_error ? 'exception' : client&.stillframe_entry ? 'entry' : Stepping.at_end?(thread) ? 'return' : 'step'
        body = { reason: reason, threadId: thread, allThreadsStopped: true }
        body[:hitBreakpointIds] = [spot.number] if spot.respond_to?(:number)
        body[:stillframe] = { notes: notes } unless notes.empty?
        Hooks.sent_on = false
        Hooks.held.values.each(&:stillframe_forget) # a pause that came before this stop was told is answered by it
        send_event('stopped', **body)
      end
    end

    # On the side of a thread.
    module Client
      attr_reader :stillframe_error, :stillframe_dead, :stillframe_entry
      attr_writer :stillframe_begins, :stillframe_handed
      attr_accessor :stillframe_announced

      # Whether this thread was told to go on since it was held, though it may not have come to do so yet.
      def stillframe_released?
        @stillframe_released
      end

      def <<(request)
        @stillframe_released = true if request == :continue
        super
      end

      def suspend(event, trace = nil, bp: nil, postmortem_exc: nil, **others)
        return if management? || Thread.current[:stillframe_busy]

        @stillframe_beginning&.disable
        @stillframe_entry = @stillframe_begins
        @stillframe_begins = false
        @stillframe_dead = !postmortem_exc.nil? && !@stillframe_handed
        @stillframe_error = postmortem_exc ? [postmortem_exc, @stillframe_handed ? 'user' : 'uncaught'] : Hooks.error_of(bp)
        @stillframe_handed = false
        @stillframe_released = false
        @stillframe_announced ||= :stop unless event == :pause
        Hooks.held[id] = self
        super
        Hooks.held.delete(id)
        Desk.forget
        Stepping.resumed(self)
        stillframe_catch_up
      end

      # Code that we have compiled in a held thread is no news, and to tell of it would wait for a session that waits for us.
      def on_load(*)
        return if Thread.current[:stillframe_busy]

        super
        stillframe_catch_up
      end

      # debug 1.4.0 forgets a pause that comes while a thread tells of what it loads, and holds a held one twice.
      def on_trap(signal)
        return (@stillframe_missed = signal if Hooks.sent_on) if Hooks.held[id]

        return @stillframe_missed = signal if waiting?
        return super if stillframe_begun?

        # Nothing of the program runs yet that could be shown: the pause comes to its first line.
        @stillframe_beginning = Stepping.at_first_line { suspend(:trap, sig: signal) }
      end

      def stillframe_begun?
        frames = DEBUGGER__.capture_frames(RDBG).reject { |each| each.path.to_s.start_with?(HERE) }
        Hooks.begun ? frames.any? : frames.any? { |each| !Frames.library?(each.path) }
      end

      # The pause that came when it could not be obeyed.
      def stillframe_catch_up
        signal, @stillframe_missed = @stillframe_missed, nil
        on_trap(signal) if signal
      end

      def stillframe_forget
        @stillframe_missed = nil
      end

      def stillframe_frames
        return Recording.frames if Recording.replaying?(self)

        Frames.calls((@target_frames || []).drop_while { |each| each.path.to_s.start_with?(HERE) })
      end

      # Nobody reads rdbg's own listing of a stop.
      def show_src(*) end
      def show_frames(*) end

      def process_dap(args)
        return super unless args.first == :stillframe

        set_mode :waiting # so that no other thread's stop holds this one in the middle of an answer
        Desk.serve(self, args[1])
      end

      def name
        Hooks.thread_name(self)
      end
    end

    # On the side of the session.
    module Session
      def on_load(iseq, source)
        path = iseq.absolute_path || iseq.path
        Desk.loaded[path] = true if path&.start_with?('/')
        Hooks.begun ||= path&.start_with?('/', '-e') && !Frames.library?(path)
        super
      end

      # debug 1.4.0 lets go of all threads with the one that it told of, also of one whose own stop is the next to be told.
      # That is told then, unless it is the end of a step and somebody has made another move meanwhile.
      def process_event(event)
        client = event[0] if event[2] == :suspend
        return super unless client

        overtaken = client.stillframe_announced == :overtaken
        client.stillframe_announced = nil
        overtaken ? client << :continue : super
      end

      # Whom to let go of. debug 1.4.0 takes whoever has not gone on yet; on a busy machine that may be one that was told to
      # already, which would then go on from its next stop as well, while that is looked at.
      def waiting_thread_clients
        Hooks.held.values.reject { |each| each.stillframe_announced || each.stillframe_released? }
      end

      def break_at?(*)
        false # our breakpoints are judged by the step that comes to them
      end

      def stillframe_drop(key)
        @bps.delete(key)
      end

      def managed_thread_clients
        super.reject(&:management?)
      end
    end
  end

  DEBUGGER__::UI_DAP.prepend(Hooks::Line)
  DEBUGGER__::ThreadClient.prepend(Hooks::Client)
  DEBUGGER__::Session.prepend(Hooks::Session)
end
