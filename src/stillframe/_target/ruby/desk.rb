# frozen_string_literal: true

# The request `stillframe`: what is asked about places, stops and values, answered inside the program.

module Stillframe
  # An answer that is a refusal, with the machine word that the other side knows.
  class Refusal < StandardError
    def initialize(word, message)
      super("#{word}: #{message}")
    end
  end

  module Desk
    OFFERS = {
      supportsConfigurationDoneRequest: true, supportsConditionalBreakpoints: true, supportsHitConditionalBreakpoints: true,
      supportsLogPoints: true, supportsFunctionBreakpoints: true, supportsExceptionOptions: true,
      supportsExceptionInfoRequest: true, supportsTerminateRequest: true, supportTerminateDebuggee: true,
      exceptionBreakpointFilters: [
        { filter: 'uncaught', label: 'errors that nothing catches', default: true },
        { filter: 'raised', label: 'errors as they are raised' },
        { filter: 'userUnhandled', label: "errors that leave your code for a library's" }
      ]
    }.freeze
    MOVES = { 'next' => :next, 'stepIn' => :step, 'stepOut' => :finish }.freeze
    BACK = %w[stepBack reverseContinue].freeze
    CALLS = %w[hello resolve loaded modules crowd release].freeze
    IN_THREAD = %w[stop locals expand eval assign].freeze

    @go = Queue.new
    @lines = {}
    @functions = []
    @numbers = 0
    @frames = {}
    @loaded = {}
    @outbox = Queue.new

    class << self
      attr_reader :loaded, :watchdog, :values

      # The program's own thread stays here until everything is set.
      def wait_for_start
        last_words
        go = @go.pop
        Recording.start(DEBUGGER__::ThreadClient.current) if Recording.wanted?
        stop_at_first_line(DEBUGGER__::ThreadClient.current) if go
      end

      def last_words
        at_exit do
          Errors.last_stop($!)
          event(kind: 'ending', loaded: @loaded.keys, functions: @functions.grep(FunctionSpot).filter_map(&:place))
          (words = Stepping.last_words) && event(kind: 'untraced', message: words)
        end
      end

      # Somebody is there: have the threads that help to answer, which the debugger must not hold.
      def prepare(line)
        @ui = line
        return if @watchdog

        @watchdog = Watchdog.new
        @values = Values.new(@watchdog)
        @teller = Thread.new { tell }
        [@watchdog.thread, @teller].each { |each| DEBUGGER__::SESSION.get_thread_client(each).mark_as_management }
      end

      def stop_at_first_line(client)
        client.stillframe_begins = true
        Stepping.plan(client, :step)
        Stepping.resumed(client)
      end

      def event(**body)
        @ui&.send_event('stillframe', **body)
      end

      def thread_number
        DEBUGGER__::ThreadClient.current.id
      end

      # Run code of the program for us: nothing in it stops.
      def busy
        before = Thread.current[:stillframe_busy]
        Thread.current[:stillframe_busy] = true
        yield
      ensure
        Thread.current[:stillframe_busy] = before
      end

      def spot_at(path, line)
        @lines[path]&.find { |each| each.line == line && each.by_line? }
      end

      # True where the request was ours to answer.
      def answered?(request)
        given = request['arguments'] || {}
        case request['command']
        when 'stillframe' then dispatch(request, given)
        when 'setBreakpoints' then reply(request, breakpoints: set_lines(given))
        when 'setFunctionBreakpoints' then reply(request, breakpoints: set_functions(given))
        when 'setExceptionBreakpoints' then reply(request, breakpoints: set_errors(given))
        when 'launch', 'attach'
          @asked = given
          reply(request)
        when 'configurationDone'
          reply(request)
          @go << @asked['stopOnEntry']
        when *BACK then replay(request, given)
        when *MOVES.keys then move(request, given)
        when 'continue' then return replay?(request, given)
        when 'pause', 'disconnect', 'terminate', 'threads' then return false
        when 'evaluate' then hand_over(request, thread_of(given))
        when 'stackTrace', 'scopes', 'variables', 'source', 'completions'
          # rdbg answers these only while it holds the program, and else never.
          return false if DEBUGGER__::SESSION.in_subsession?

          raise Refusal.new('running', 'the program runs')
        else refuse(request, "noSuchRequest: #{request['command']} is not known here")
        end
        true
      rescue Refusal => e
        refuse(request, e.message)
        true
      rescue StandardError, ScriptError => e
        refuse(request, "internal: #{e.class}: #{e.message} at #{e.backtrace&.first}")
        true
      end

      # Called in a held thread: what needs its frames.
      def serve(client, request)
        given = request['arguments']
        body = busy { In.public_send(given['call'] || 'raw', client, given) }
        @outbox << [request, body, nil]
      rescue Refusal => e
        @outbox << [request, nil, e.message]
      rescue TookTooLong
        @outbox << [request, nil, "stuck: it took longer than #{given['timeout'] || given['seconds']} s"]
      rescue Exception => e # rubocop:disable Lint/RescueException -- the held thread must live on
        @outbox << [request, nil, "internal: #{e.class}: #{e.message} at #{e.backtrace&.first}"]
      end

      def frame(number)
        raise Refusal.new('running', 'this thread is not held: only its calls can be told') if number.zero?

        @frames.fetch(number) { raise Refusal.new('stale', "no frame #{number}") }
      end

      def keep_frame(client, index)
        number = @frames.size + 1
        @frames[number] = [client, index]
        number
      end

      # The program goes on: what was told of its frames and values is of another time.
      def forget
        @frames.clear
        @values&.forget
      end

      private

      def tell
        while (request, body, problem = @outbox.pop)
          problem ? refuse(request, problem) : reply(request, **body)
        end
      end

      def reply(request, **body)
        @ui.send_response(request, **body)
      end

      def refuse(request, message)
        @ui.send_response(request, success: false, message: message)
      end

      def dispatch(request, given)
        call = given['call']
        if CALLS.include?(call)
          reply(request, **Answers.public_send(call, given))
        elsif IN_THREAD.include?(call)
          number = given['threadId'] || thread_of(given)
          return reply(request, **Answers.whereabouts(number, given)) if given['values'] == 0 && !Hooks.held[number]

          hand_over(request, number)
        else
          raise Refusal.new('usage', "no call #{call}")
        end
      end

      # Have a held thread answer for itself.
      def hand_over(request, number)
        client = Hooks.held[number] || raise(Refusal.new('running', "thread #{number} is not held"))
        client << [:dap, :stillframe, request]
      end

      def thread_of(given)
        return frame(given['frameId'])[0].id if given['frameId']

        Hooks.held.keys.first
      end

      # Whether going on is going through what was recorded.
      def replay?(request, given)
        client = Hooks.held[given['threadId']]
        client && Recording.replaying?(client) && replay(request, given) && true
      end

      def replay(request, given)
        client = Hooks.held[given['threadId']] || raise(Refusal.new('running', 'the program runs'))
        reason, notes = Recording.move(client, request['command'])
        forget
        reply(request)
        @ui.stopped(reason, client.id, notes: notes)
      end

      def move(request, given)
        client = Hooks.held[given['threadId']] || raise(Refusal.new('running', 'the program runs'))
        return replay(request, given) if Recording.replaying?(client)

        if client.stillframe_dead
          return refuse(request, 'the program has ended with this error; it can only be looked at, and go on to its end')
        end

        Stepping.plan(client, MOVES.fetch(request['command']))
        reply(request)
        @ui.stillframe_continue
      end

      def number
        @numbers += 1
      end

      # The whole set of one file.
      def set_lines(given)
        path = given.dig('source', 'path')
        @lines[path], told = set(given, @lines[path] || []) { |wish| LineSpot.new(path, wish, number) }
        told
      end

      def set_functions(given)
        @functions, told = set(given, @functions) do |wish|
          wish['name'] == LeavingSpot::NAME ? LeavingSpot.new(wish) : FunctionSpot.new(wish, number)
        end
        told
      end

      # What holds now, and the answer for each wish; a breakpoint that did not change keeps its count.
      def set(given, before)
        told = (given['breakpoints'] || []).map do |wish|
          fault = Terms.fault(wish)
          next { verified: false, reason: 'failed', message: fault } if fault

          same = before.find { |each| each.wish == wish }
          before -= [same] if same
          same || DEBUGGER__::SESSION.add_bp(yield(wish))
        end
        before.each { |each| drop(each) }
        [told.grep_v(Hash), told.map { |each| each.is_a?(Hash) ? each : each.told }]
      end

      def set_errors(given)
        drop(@errors) if @errors
        classes = (given['exceptionOptions'] || []).filter_map { |each| each.dig('path', 1, 'names', 0) }
        any = given['filters'].include?('raised')
        @errors = any || !classes.empty? ? DEBUGGER__::SESSION.add_bp(ErrorSpot.new(any, classes)) : nil
        Errors.watch(given['filters'].include?('uncaught'))
        Handing.watch(given['filters'].include?('userUnhandled'))
        given['filters'].map { { verified: true } }
      end

      def drop(spot)
        spot.delete
        DEBUGGER__::SESSION.stillframe_drop(spot.key)
      end

      public

      def drop_all
        [*@lines.values.flatten, *@functions, @errors].compact.each { |each| drop(each) }
        @lines = {}
        @functions = []
        @errors = nil
        Errors.watch(false)
        Handing.watch(false)
      end
    end
  end
end
