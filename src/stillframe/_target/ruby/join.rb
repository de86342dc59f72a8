# frozen_string_literal: true

# Loaded into a Ruby program that rdbg holds already, by an expression: puts our own request behind its door.

unless defined?(Stillframe::Desk)
  require_relative 'boot'
  require 'debug/server_dap' unless defined?(DEBUGGER__::UI_DAP)
  Stillframe::PARTS.each { |name| require_relative name }
  DEBUGGER__::CONFIG.set_config(log_level: :FATAL, no_color: true)
  Stillframe::Desk.last_words
end
