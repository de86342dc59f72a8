# frozen_string_literal: true

# Tells which debugger this Ruby has, whether every private name of it that our code leans on is there, and where it lies.

found = Gem::Specification.find_by_name('debug')
$LOAD_PATH.unshift(*found.full_require_paths)
require 'debug/session'
require 'debug/server'
require 'debug/server_dap'

NEEDED = {
  DEBUGGER__::UI_DAP => %i[dap_setup send send_response send_event recv_request event],
  DEBUGGER__::UI_ServerBase => %i[pause],
  DEBUGGER__::ThreadClient => %i[suspend process_dap show_src show_frames set_mode on_breakpoint on_load on_trap waiting?
                                  management? mark_as_management <<],
  DEBUGGER__::Session => %i[on_load break_at? add_bp rehash_bps update_thread_list managed_thread_clients get_thread_client
                            process_event waiting_thread_clients],
  DEBUGGER__::LineBreakpoint => %i[try_activate activate setup enable],
  DEBUGGER__::CatchBreakpoint => %i[setup last_exc],
  RubyVM::InstructionSequence => %i[traceable_lines_norec first_lineno each_child type],
  DEBUGGER__::FrameInfo => %i[callee _local_variables self class]
}.freeze
fits = NEEDED.all? { |where, names| names.all? { |name| where.method_defined?(name) || where.private_method_defined?(name) } }
fits &&= %i[open_unix capture_frames frame_depth].all? { |name| DEBUGGER__.respond_to?(name) }
fits &&= DEBUGGER__::ThreadClient.instance_method(:process_dap).arity == 1
puts DEBUGGER__::VERSION, fits ? 'fits' : 'differs', *found.full_require_paths
