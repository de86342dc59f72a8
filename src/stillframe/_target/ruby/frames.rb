# frozen_string_literal: true

# The frames of a held thread: which are the user's, what they are called, and which of their variables exist by now.

module Stillframe
  module Frames
    LIBRARY = [
      RbConfig::CONFIG['rubylibprefix'], RbConfig::CONFIG['rubylibdir'], *Gem.path.map { |path| "#{path}/gems" }, HERE,
      File.dirname(DEBUGGER__.method(:open_unix).source_location[0]), '<internal:'
    ].compact.freeze

    module_function

    def library?(path)
      path.nil? || path.start_with?(*LIBRARY)
    end

    def user?(frame)
      !frame.binding.nil? && !frame.iseq.nil? && !library?(frame.realpath || frame.path)
    end

    # A method of no class of the program's own is called by its name alone.
    def function(frame)
      frame.name.to_s.delete_prefix('Object#').delete_prefix('main.')
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
        value = scope.local_variable_get(name)
        [name, value] unless value.nil? && first.fetch(name, 0) >= line || name.start_with?('_')
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

    # The line of the first assignment to each local of an instruction sequence.
    def assigned(iseq)
      return {} unless iseq

      (@assigned ||= {}.compare_by_identity)[iseq] ||= begin
        _, _, _, _, _, _, _, _, _, _, locals, _, _, body = iseq.to_a
        line = iseq.first_lineno
        body.each_with_object({}) do |each, lines|
          line = each if each.is_a?(Integer)
          next unless each.is_a?(Array) && (each[0] == :setlocal_WC_0 || each[0] == :setlocal && each[2] == 0)

          name = locals[-(each[1] - 2)]
          lines[name] ||= line if name.is_a?(Symbol)
        end
      end
    end
  end
end
