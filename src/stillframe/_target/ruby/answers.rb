# frozen_string_literal: true

# The answers: those that any thread can give, and those that a held thread gives of itself.

module Stillframe
  module Answers
    module_function

    def hello(_given)
      { process: { pid: Process.pid, ppid: Process.ppid }, argv: [$0, *ARGV], version: DEBUGGER__::VERSION }
    end

    def loaded(given)
      { loaded: given['files'].select { |each| loaded?(each) } }
    end

    # What was loaded before we came was not told to us, but has left its code.
    def loaded?(path)
      return true if Desk.loaded.key?(path)
      return false unless $LOADED_FEATURES.include?(path) || path == File.absolute_path($0)

      found = false
      ObjectSpace.each_iseq { |each| found ||= each.absolute_path == path }
      Desk.loaded[path] = true if found
      found
    end

    def release(_given)
      Desk.drop_all
      {}
    end

    def modules(given)
      found = $LOADED_FEATURES.reject { |each| each.start_with?(HERE) }
      page = found[given['start'], given['count']] || []
      told = page.map { |each| { name: File.basename(each, '.*'), file: each, user: !Frames.library?(each) } }
      { modules: told, total: found.size }
    end

    # A thread that has run no line since rdbg came up is unknown to it, and asking it for one would wait for ever (debug 1.4).
    UNMET = 1_000_000
    @unmet = {}

    def crowd(_given)
      met, unmet = DEBUGGER__::SESSION.update_thread_list
      told = met.map do |each|
        held = Hooks.held.key?(each.id)
        blocked = !held && each.thread.stop?
        { threadId: each.id, name: Hooks.thread_name(each), held: held, blocked: blocked }
      end
      { threads: told + unmet.map { |each| unmet_row(each) }, held: [] }
    end

    def unmet_row(thread)
      number = @unmet[thread.object_id] ||= UNMET + @unmet.size + 1
      { threadId: number, name: thread.name || "new thread #{number - UNMET}", held: false, blocked: thread.stop? }
    end

    def thread_of(number)
      client = DEBUGGER__::SESSION.managed_thread_clients.find { |each| each.id == number }
      found = client&.thread || Thread.list.find { |each| @unmet[each.object_id] == number }
      found || raise(Refusal.new('unknown', "no thread #{number}"))
    end

    # Where a thread is that runs, or waits for something outside of Ruby.
    def whereabouts(number, given)
      places = thread_of(number).backtrace_locations || []
      code = Frames.code_of(places.map(&:path))
      told = places.first(given['levels']).map do |each|
        path = each.absolute_path || each.path
        native = Frames.native?(each, code)
        name = native ? "[C] #{Frames.native_name(each)}" : each.label
        { id: 0, function: name, file: path, line: each.lineno, user: !native && !Frames.library?(path) }
      end
      { frames: told, total: places.size, at: 0, locals: [], locals_total: 0, loaded: [] }
    end

    def resolve(given)
      files = (given['files'] || {}).to_h { |path, lines| [path, file(path, lines)] }
      symbols = (given['symbols'] || []).map { |each| symbol([each['module'], each['name']].compact.join('.')) }
      { files: files, symbols: symbols }
    end

    # Where the lines of a file that hold code are, by compiling it as Ruby would.
    def file(path, lines)
      known = code_lines(path)
      told = lines.map do |line|
        actual = known.bsearch { |each| each >= line }
        actual ? { asked: line, actual: actual } : { asked: line, reason: reason(path, known) }
      end
      { loaded: loaded?(path), lines: told }
    rescue SyntaxError => e
      { lines: lines.map { |line| { asked: line, reason: e.message.lines.first.to_s.chomp } } }
    rescue SystemCallError => e
      { lines: lines.map { |line| { asked: line, reason: "#{e.class.new.message}: #{path}" } } }
    end

    def reason(path, known)
      known.empty? ? 'no code there' : "no code at or after it: the last is on line #{known.last} of #{File.readlines(path).size}"
    end

    def code_lines(path)
      stamp = File.mtime(path)
      @code ||= {}
      return @code[path][1] if @code[path]&.first == stamp

      before = $VERBOSE
      $VERBOSE = nil # what the compiler warns of is told when the program itself is loaded
      found = {}
      # Under another name, else rdbg would take what is compiled here for the program's own code.
      collect(RubyVM::InstructionSequence.compile(File.read(path), '(stillframe)'), found)
      @code[path] = [stamp, found.keys.sort]
      @code[path][1]
    ensure
      $VERBOSE = before
    end

    def collect(iseq, found)
      iseq.traceable_lines_norec(lines = {})
      lines.each do |line, events|
        found[line] = true if events.include?(:RUBY_EVENT_LINE) || events.include?(:RUBY_EVENT_CALL)
      end
      found[iseq.first_lineno] = true if iseq.type == :method
      iseq.each_child { |each| collect(each, found) }
    end

    def symbol(name)
      found = Functions.find(name)
      path, line = found&.source_location
      path ? { file: File.absolute_path(path), line: line } : nil
    end
  end

  # What a held thread tells of itself. Runs in that thread.
  module In
    module_function

    def stop(client, given)
      frames = client.stillframe_frames
      shown = frames.first(given['levels']).each_with_index.map { |each, index| Frames.told(each, Desk.keep_frame(client, index)) }
      at = shown.index { |each| each[:user] } || 0
      found = given['values'].zero? || frames.empty? ? [] : Frames.variables(frames[at])
      body = {
        frames: shown, total: frames.size, at: at, locals: told(found.first(given['values']), given), locals_total: found.size,
        loaded: (given['watch'] || []).select { |each| Answers.loaded?(each) }
      }
      return body if Recording.replaying?(client) # neither had come about then

      returned = Stepping.returned(client)
      body[:returned] = told([returned], given) if returned
      body[:exception] = error(client) if client.stillframe_error
      body
    end

    def locals(_client, given)
      client, index = Desk.frame(given['frameId'])
      frame = client.stillframe_frames[index]
      found = given['scope'] == 'globals' ? globals : Frames.variables(frame)
      page(found, given)
    end

    def expand(_client, given)
      page(Desk.values.parts(Desk.values.kept(given['ref'])), given)
    end

    def eval(_client, given)
      client, index = Desk.frame(given['frameId'])
      scope = client.stillframe_frames[index].binding || TOPLEVEL_BINDING
      { results: given['expressions'].map { |each| evaluated(scope, each, given) } }
    end

    def assign(_client, given)
      client, index = Desk.frame(given['frameId'])
      scope = client.stillframe_frames[index].binding || TOPLEVEL_BINDING
      target = given['target']
      if /\A[a-z_]\w*\z/.match?(target) && !scope.local_variable_defined?(target)
        return { error: "no variable #{target} here" }
      end

      { value: Desk.values.told(target, scope.eval("#{target} = (#{given['value']})"), given) }
    rescue StandardError, ScriptError => e
      { error: failure(e) }
    end

    # A line for rdbg's own console, which takes Ruby.
    def raw(client, given)
      client, index = given['frameId'] ? Desk.frame(given['frameId']) : [client, 0]
      scope = client.stillframe_frames[index]&.binding || TOPLEVEL_BINDING
      value = Desk.watchdog.within(30) { scope.eval(given['expression']) }
      { result: value.inspect, type: value.class.name.to_s, variablesReference: 0 }
    rescue StandardError, ScriptError => e
      raise Refusal.new(e.class.name, e.message)
    end

    def evaluated(scope, expression, given)
      value = Desk.watchdog.within(given['timeout']) { scope.eval(expression) }
      { value: Desk.values.told(expression, value, given) }
    rescue TookTooLong
      { error: "it took longer than #{given['timeout']} s" }
    rescue StandardError, ScriptError, SystemStackError, NoMemoryError => e
      { error: failure(e) }
    end

    def failure(error)
      "#{error.class}: #{error.message.lines.first.to_s.chomp}"
    end

    def page(found, given)
      chosen = found[given['start'], given['count']] || []
      { values: told(chosen, given), total: found.size }
    end

    def told(pairs, given)
      pairs.map { |name, value| Desk.values.told(name, value, given) }
    end

    # Not $FILENAME: asking for it opens the first file that the program was given.
    def globals
      (global_variables - [:$FILENAME]).sort.map { |name| [name, Kernel.eval(name.to_s)] }
    end

    def error(client)
      error, mode = client.stillframe_error
      # without the lines of source and the guesses that Ruby's own libraries add
      message = error.respond_to?(:original_message) ? error.original_message : error.message
      { type: error.class.name.to_s, message: message.to_s, mode: mode, cause: error.cause && failure(error.cause) }.compact
    end
  end
end
