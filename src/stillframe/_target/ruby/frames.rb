# frozen_string_literal: true

# The frames of a held thread: which are the user's, what they are called, and which of their variables exist by now.

module Stillframe
  module Frames
    LIBRARY = [
      RbConfig::CONFIG['rubylibprefix'], RbConfig::CONFIG['rubylibdir'], *Gem.path.map { |path| "#{path}/gems" }, HERE,
      File.dirname(DEBUGGER__.method(:open_unix).source_location[0]), '<internal:'
    ].compact.freeze

    # A call that only its error still knows of: where it was, without its variables.
    class Gone < DEBUGGER__::FrameInfo
      def name
        location.label
      end
    end

    # Classes whose methods written in C let a thread wait.
    WAITING = %w[
      Thread::Mutex Monitor Thread Thread::Queue Thread::SizedQueue Thread::ConditionVariable IO BasicSocket TCPServer
      UNIXServer Kernel
    ].freeze

    module_function

    # File to the functions that its code has, by name, and the first lines of each.
    def code_of(paths)
      found = paths.to_h { |path| [path, Hash.new { |names, name| names[name] = [] }] }
      ObjectSpace.each_iseq { |each| found[each.path]&.[](each.base_label)&.push(each.first_lineno) }
      found
    end

    # Whether a place is in a method written in C: it is told with the file and line of its caller, which has no such function.
    def native?(place, code)
      code[place.path][place.base_label].none? { |first| first <= place.lineno }
    end

    # `Thread#join`; where two classes have a method of the name, both: nothing tells which one it is.
    def native_name(place)
      return place.label if place.label.match?(/[#.]/) # Ruby 3.4 and later

      name = place.base_label.to_sym
      known = WAITING.filter_map { |each| Object.const_get(each) if Object.const_defined?(each) }
      owners = known.select { |each| each.method_defined?(name, false) || each.private_method_defined?(name, false) }
      owners.select! { |each| each.instance_method(name).source_location.nil? }
      owners.empty? || owners.size > 2 ? name.to_s : owners.map { |each| "#{each}##{name}" }.join(' or ')
    end

    def library?(path)
      path.nil? || path.start_with?(*LIBRARY)
    end

    def user?(frame)
      (Gone === frame || !frame.binding.nil? && !frame.iseq.nil?) && !library?(frame.realpath || frame.path)
    end

    # Ruby runs a rescue, and an ensure that an error leads to, in a frame of its own above the call that it belongs to.
    HANDLER = /\A(?:rescue|ensure) in /

    def handler?(place)
      HANDLER.match?(place.label.to_s)
    end

    # Whether an error that runs such a frame may still be on its way out.
    def leaving?(place)
      place&.label.to_s.start_with?('ensure in ')
    end

    # The calls as people count them: a rescue is its call, held at another line.
    def calls(frames)
      frames.reject.with_index { |_each, index| index.positive? && handler?(frames[index - 1].location) }
    end

    # A method of no class of the program's own is called by its name alone.
    def function(frame)
      name(frame).to_s.sub(HANDLER, '').delete_prefix('Object#').delete_prefix('main.')
    end

    # As rdbg calls a frame, without what its own way to say so does besides: it inspects each argument of the call, which is
    # code of the program's that nobody watches, and unfolds all code of the call several times, for the garbage collector.
    def name(frame)
      return frame.name if Gone === frame
      return "[C] #{owner(frame)}#{frame.location.base_label}" unless frame.iseq && (frame.binding || frame._local_variables)

      if kind(frame.iseq) == :block
        _whole, level, where = BLOCK.match(frame.location.label).to_a
        "block in #{where}#{level}"
      else
        frame.callee ? "#{owner(frame)}#{frame.callee}" : frame.location.label
      end
    end

    BLOCK = /\Ablock( \(\d+ levels\))* in (.+)\z/

    # `Shop#` or `Shop.`, by what the class itself is called and never by a to_s of the program's.
    def owner(frame)
      mine = frame.self
      return '' unless Module === frame.class
      return of_class(PLAIN.bind_call(frame.class)) unless frame.class.singleton_class? && frame.class == singleton_of(mine)
      return "#{PLAIN.bind_call(mine)}." if Module === mine

      TOPLEVEL_BINDING.receiver.equal?(mine) ? 'main.' : "#<#{PLAIN.bind_call(frame.class.superclass)}>."
    end

    PLAIN = Module.instance_method(:to_s)

    # A method that a class has from the singleton of one above it is that one's: `Shop.`, not `#<Class:Shop>#`.
    def of_class(name)
      above = name[/\A#<Class:([A-Z][\w:]*)>\z/, 1]
      above ? "#{above}." : "#{name}#"
    end

    def singleton_of(object)
      Kernel.instance_method(:singleton_class).bind_call(object)
    rescue TypeError # a number or a symbol has none
      nil
    end

    def kind(iseq)
      (@kinds ||= {}.compare_by_identity)[iseq] ||= iseq.type
    end

    def told(frame, number)
      {
        id: number, function: function(frame), file: frame.realpath || frame.path, line: frame.location.lineno,
        user: user?(frame) || SETTINGS['STILLFRAME_RUBY_ALL'] == '1' && !frame.iseq.nil?
      }
    end

    # Names and values of a frame's variables. Ruby has every local of a method from its start, as nil; one that is first
    # assigned on the line that is about to run, or later, is not there yet.
    def variables(frame)
      return [] unless (scope = frame.binding)

      first = assigned(frame.iseq)
      line = frame.location.lineno
      found = scope.local_variables.filter_map do |name|
        next if name.start_with?('_')

        value = scope.local_variable_get(name)
        [name, value] unless value.nil? && first.fetch(name, 0) >= line
      end
      mine = scope.receiver
      found << [:self, mine] unless TOPLEVEL_BINDING.receiver.equal?(mine)
      found
    end

    # How many times a line begins in an instruction sequence: more than once where it holds several statements.
    def beginnings(iseq, line)
      return 1 unless iseq

      @beginnings ||= {}.compare_by_identity
      counts = @beginnings[iseq] ||= begin
        now = iseq.first_lineno
        iseq.to_a[13].each_with_object(Hash.new(0)) do |each, found|
          now = each if each.is_a?(Integer)
          found[now] += 1 if each == :RUBY_EVENT_LINE
        end
      end
      [counts[line], 1].max
    end

    # The line of the first assignment to each local of an instruction sequence, its own or in a block or rescue within it.
    def assigned(iseq)
      return {} unless iseq

      (@assigned ||= {}.compare_by_identity)[iseq] ||= {}.tap do |lines|
        assignments(iseq, 0, iseq.to_a[10], lines)
      end
    end

    def assignments(iseq, level, locals, lines)
      line = iseq.first_lineno
      iseq.to_a[13].each do |each|
        line = each if each.is_a?(Integer)
        next unless each.is_a?(Array) && (each[0] == :"setlocal_WC_#{level}" || each[0] == :setlocal && each[2] == level)

        name = locals[-(each[1] - 2)]
        lines[name] = [lines.fetch(name, line), line].min if name.is_a?(Symbol)
      end
      iseq.each_child { |each| assignments(each, level + 1, locals, lines) unless %i[method class].include?(kind(each)) }
    end
  end
end
