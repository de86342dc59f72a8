"""Tells whether the debugpy at hand has every private name that our code inside the target leans on.

`STILLFRAME_PYDEVD=<vendored pydevd> python selftest.py` prints {"ok": bool, "missing": [names]}; run by each target
interpreter, because debugpy's modules differ by version. Where names are missing, the stock server is the fallback.
"""

import importlib
import json
import os
import sys

NAMES = {
    "pydevd": (
        "PyDB.__init__ PyDB.initialize_network PyDB.connect PyDB.wait_for_ready_to_run PyDB.on_disconnect PyDB.get_arg_ppid "
        "PyDB.dispose_and_kill_all_pydevd_threads PyDB._PyDB__wait_for_threads_to_finish PyDB._internal_get_file_type "
        "PyDB.get_file_type PyDB.get_cache_file_type PyDB.apply_files_filter PyDB.in_project_roots_filename_uncached "
        "PyDB.process_internal_commands PyDB.prepare_to_run PyDB.notify_thread_created PyDB.enable_tracing PyDB.find_frame "
        "PyDB.check_output_redirect PyDB.post_method_as_internal_command "
        "PyDB.handle_breakpoint_condition PyDB.handle_breakpoint_expression PyDB._do_wait_suspend PyDB.do_wait_suspend "
        "PyDB.set_suspend PyDB.set_tracing_for_untraced_contexts collect_return_info "
        "PyDB.ignore_system_exit_code PyDB.set_exclude_filters PyDB.trigger_exception_handler "
        "PyDB.do_stop_on_unhandled_exception PyDB.set_trace_for_frame_and_parents PyDB.notify_skipped_step_in_because_of_filters "
        "CheckAliveThread._on_run PyDBDaemonThread.__init__ SetupHolder.setup settrace config "
        "start_client patch_stdin time get_current_thread_id pydevd_utils.get_non_pydevd_threads pydevd_gevent_integration"
    ),
    "pydevd_tracing": (
        "set_trace_to_threads SetTrace restore_sys_set_trace_func replace_sys_set_trace_func _internal_set_trace "
        "TracingFunctionHolder._original_tracing reapply_settrace"
    ),
    "pydevd_file_utils": "get_abs_path_real_path_and_base_from_frame exists _get_relative_filename_abs_path",
    "_pydev_bundle.pydev_monkey": (
        "patch_new_process_functions _on_forked_process monkey_patch_os monkey_patch_module create_fork "
        "undo_patch_thread_modules threading_modules_to_patch _NewThreadStartupWithTrace get_original_start_new_thread "
        "threading.current_thread"
    ),
    "_pydevd_bundle.pydevd_filtering": "ExcludeFilter",
    "_pydevd_bundle.pydevd_collect_bytecode_info": "ReturnInfo",
    "_pydevd_bundle.pydevd_additional_thread_info_regular": "_current_frames",
    "_pydev_bundle.pydev_log": "_pydevd_log_exception",
    "_pydevd_bundle.pydevd_breakpoints": "get_exception_class ExceptionBreakpoint LineBreakpoint.has_condition",
    "_pydev_bundle.pydev_is_thread_alive": "is_thread_alive",
    "_pydev_bundle._pydev_saved_modules": (
        "ThreadingEvent thread threading._DummyThread threading._active threading._newname time _queue"
    ),
    "_pydevd_bundle.pydevd_command_line_handling": "process_command_line get_pydevd_file",
    "_pydevd_bundle.pydevd_constants": (
        "HTTP_JSON_PROTOCOL set_protocol get_global_debugger set_global_debugger PYDEVD_USE_SYS_MONITORING RETURN_VALUES_DICT "
        "get_thread_id get_pid _thread_id_lock _get_or_compute_thread_id_with_lock EXCEPTION_TYPE_UNHANDLED STATE_RUN "
        "STATE_SUSPEND DebugInfoHolder.DEBUG_TRACE_LEVEL"
    ),
    "_pydevd_bundle.pydevd_defaults": "PydevdCustomization.DEFAULT_PROTOCOL",
    "_pydevd_bundle.pydevd_api": "PyDevdAPI.set_protocol PyDevdAPI.request_disconnect "
    "PyDevdAPI.set_function_breakpoints _get_code_lines internal_step_in_thread",
    "_pydevd_bundle.pydevd_comm": (
        "ReaderThread._terminate_on_socket_close WriterThread.add_command WriterThread.empty socket_module.create_connection "
        "InternalThreadCommand.do_it InternalSetNextStatementThread.do_it build_exception_info_response"
    ),
    "_pydevd_bundle.pydevd_comm_constants": (
        "CMD_RETURN CMD_STEP_CAUGHT_EXCEPTION CMD_STEP_INTO CMD_STEP_INTO_MY_CODE CMD_STEP_INTO_COROUTINE CMD_STEP_OVER "
        "CMD_STEP_OVER_MY_CODE CMD_STEP_RETURN CMD_STEP_RETURN_MY_CODE CMD_SMART_STEP_INTO"
    ),
    "_pydevd_bundle.pydevd_net_command": "NetCommand.call_after_send NetCommand.send NetCommand._after_send",
    "_pydevd_bundle.pydevd_net_command_factory_json": (
        "NetCommandFactoryJson.make_io_message NetCommandFactoryJson.make_thread_suspend_single_notification "
        "NetCommandFactoryJson.make_thread_suspend_message build_exception_info_response"
    ),
    "_pydevd_bundle.pydevd_dont_trace_files": "PYDEV_FILE",
    "_pydevd_bundle.pydevd_daemon_thread": "PyDBDaemonThread.do_kill_pydev_thread",
    "_pydevd_bundle.pydevd_utils": "get_non_pydevd_threads",
    "_pydevd_bundle.pydevd_frame_utils": "create_frames_list_from_frame create_frames_list_from_traceback",
    "_pydevd_bundle.pydevd_save_locals": "save_locals",
    "_pydevd_bundle.pydevd_thread_lifecycle": "pydevd_find_thread_by_id internal_run_thread resume_threads",
    "_pydevd_bundle.pydevd_process_net_command_json": "PyDevJsonCommandProcessor.process_net_command_json",
    "_pydevd_bundle.pydevd_suspended_frames": (
        "SuspendedFramesManager.get_frame_tracker SuspendedFramesManager.get_frames_list "
        "SuspendedFramesManager.get_thread_id_for_variable_reference _FramesTracker.get_frames_list"
    ),
    "_pydevd_bundle._debug_adapter.pydevd_base_schema": (
        "register_request BaseSchema._translate_id_to_dap BaseSchema._dap_id_to_obj_id"
    ),
    "_pydevd_sys_monitoring.pydevd_sys_monitoring": "stop_monitoring enable_code_tracing update_monitor_events restart_events",
    "_pydevd_sys_monitoring._pydevd_sys_monitoring": (
        "_code_to_func_code_info_cache _getframe _start_method_event _line_event _jump_event _return_event _raise_event "
        "_unwind_event reset_thread_local_info _create_thread_info _get_ident _thread_active _get_func_code_info "
        "_enable_line_tracing update_monitor_events"
    ),
}
FIELDS = {  # set by constructors
    "_pydevd_bundle.pydevd_additional_thread_info.PyDBAdditionalThreadInfo": (
        "pydev_state pydev_step_cmd pydev_step_stop pydev_use_scoped_step_frame hit_breakpoint_ids "
        "pydev_message conditional_breakpoint_exception is_tracing"
    ),
    "pydevd.PyDB": (
        "ready_to_run pydb_disposed terminate_requested authentication writer created_pydb_daemon_threads _thread_events "
        "_cmd_queue _py_db_command_thread_event _main_lock _client_socket suspended_frames_manager cmd_factory PYDEV_FILE "
        "function_breakpoint_name_to_breakpoint fix_top_level_trace_and_get_trace_func _break_on_system_exit "
        "break_on_caught_exceptions timeout_tracker threading_active"
    ),
    "_pydevd_bundle.pydevd_suspended_frames.SuspendedFramesManager": "_thread_id_to_tracker",
    "_pydevd_bundle.pydevd_frame_utils.FramesList": (
        "frame_id_to_lineno exc_type exc_desc trace_obj current_frame last_frame _frames chained_frames_list"
    ),
}


def lacks(holder, path):
    """Whether a dotted path leads nowhere from here."""
    for name in path.split("."):
        if not hasattr(holder, name):
            return True
        holder = getattr(holder, name)
    return False


def missing():
    found = []
    for module, names in NAMES.items():
        try:
            holder = importlib.import_module(module)
        except Exception as error:  # whatever another debugpy does when it is imported, it is not ours
            found.append("%s (%s)" % (module, error))
            continue
        found += ["%s.%s" % (module, name) for name in names.split() if lacks(holder, name)]
    if found:
        return found
    for path, names in FIELDS.items():
        module, _, kind = path.rpartition(".")
        made = getattr(importlib.import_module(module), kind)()
        found += ["%s.%s" % (path, name) for name in names.split() if lacks(made, name)]
    return found


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    vendored = os.environ.get("STILLFRAME_PYDEVD", "")
    sys.path.insert(0, vendored)
    sys.pycache_prefix = os.environ.get("STILLFRAME_PYCACHE") or sys.pycache_prefix
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    lost = missing() if vendored else ["STILLFRAME_PYDEVD"]
    if (3, 8) > sys.version_info[:2]:
        lost.append("Python 3.8 or later")
    sys.stdout.write(json.dumps({"ok": not lost, "missing": lost}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
