# frozen_string_literal: true

# Preloaded into a Ruby program that is to be debugged: opens rdbg's door on our socket, puts our own request behind it,
# and holds the program before its first line until it is told to run.

module Stillframe
  HERE = File.realpath(__dir__)
  PARTS = %w[values frames spots handing stepping recording desk answers hooks].freeze

  # The settings leave the environment at once, so that whatever the program starts is not debugged.
  SETTINGS = %w[
    STILLFRAME_RUBY STILLFRAME_RUBY_DEBUG STILLFRAME_RUBY_OPTIONS STILLFRAME_RUBY_ALL STILLFRAME_RUBY_RECORD
  ].to_h do |name|
    [name, ENV.delete(name)]
  end
  if (kept = SETTINGS['STILLFRAME_RUBY_OPTIONS'])
    kept.empty? ? ENV.delete('RUBYOPT') : ENV['RUBYOPT'] = kept
  end

  def self.load_debugger
    $LOAD_PATH.unshift(*SETTINGS['STILLFRAME_RUBY_DEBUG'].split(File::PATH_SEPARATOR))
    require 'debug/session'
    require 'debug/server'
    require 'debug/server_dap'
  ensure
    $LOAD_PATH.shift(SETTINGS['STILLFRAME_RUBY_DEBUG'].split(File::PATH_SEPARATOR).size)
  end
end

if Stillframe::SETTINGS['STILLFRAME_RUBY']
  Stillframe.load_debugger
  Stillframe::PARTS.each { |name| require_relative name }
  DEBUGGER__::CONFIG.set_config(log_level: :FATAL, no_color: true, no_sigint_hook: true, no_rc: true, fork_mode: :parent)
  DEBUGGER__.open_unix(sock_path: Stillframe::SETTINGS['STILLFRAME_RUBY'], nonstop: true)
  Stillframe::Desk.wait_for_start
end
