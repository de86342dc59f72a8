"""Names of the Debug Adapter Protocol: requests, events, capability flags. Made by tools/generate_dap_types.py."""

from __future__ import annotations

from typing import Final

REQUESTS: Final = frozenset(
    {
        "attach",
        "breakpointLocations",
        "cancel",
        "completions",
        "configurationDone",
        "continue",
        "dataBreakpointInfo",
        "disassemble",
        "disconnect",
        "evaluate",
        "exceptionInfo",
        "goto",
        "gotoTargets",
        "initialize",
        "launch",
        "loadedSources",
        "locations",
        "modules",
        "next",
        "pause",
        "readMemory",
        "restart",
        "restartFrame",
        "reverseContinue",
        "runInTerminal",
        "scopes",
        "setBreakpoints",
        "setDataBreakpoints",
        "setExceptionBreakpoints",
        "setExpression",
        "setFunctionBreakpoints",
        "setInstructionBreakpoints",
        "setVariable",
        "source",
        "stackTrace",
        "startDebugging",
        "stepBack",
        "stepIn",
        "stepInTargets",
        "stepOut",
        "terminate",
        "terminateThreads",
        "threads",
        "variables",
        "writeMemory",
    }
)
"""Every request that the protocol defines."""

EVENTS: Final = frozenset(
    {
        "breakpoint",
        "capabilities",
        "continued",
        "exited",
        "initialized",
        "invalidated",
        "loadedSource",
        "memory",
        "module",
        "output",
        "process",
        "progressEnd",
        "progressStart",
        "progressUpdate",
        "stopped",
        "terminated",
        "thread",
    }
)
"""Every event that the protocol defines."""

SUPPORT_SUSPEND_DEBUGGEE: Final = "supportSuspendDebuggee"
SUPPORT_TERMINATE_DEBUGGEE: Final = "supportTerminateDebuggee"
SUPPORTS_ANSISTYLING: Final = "supportsANSIStyling"
SUPPORTS_BREAKPOINT_LOCATIONS_REQUEST: Final = "supportsBreakpointLocationsRequest"
SUPPORTS_CANCEL_REQUEST: Final = "supportsCancelRequest"
SUPPORTS_CLIPBOARD_CONTEXT: Final = "supportsClipboardContext"
SUPPORTS_COMPLETIONS_REQUEST: Final = "supportsCompletionsRequest"
SUPPORTS_CONDITIONAL_BREAKPOINTS: Final = "supportsConditionalBreakpoints"
SUPPORTS_CONFIGURATION_DONE_REQUEST: Final = "supportsConfigurationDoneRequest"
SUPPORTS_DATA_BREAKPOINT_BYTES: Final = "supportsDataBreakpointBytes"
SUPPORTS_DATA_BREAKPOINTS: Final = "supportsDataBreakpoints"
SUPPORTS_DELAYED_STACK_TRACE_LOADING: Final = "supportsDelayedStackTraceLoading"
SUPPORTS_DISASSEMBLE_REQUEST: Final = "supportsDisassembleRequest"
SUPPORTS_EVALUATE_FOR_HOVERS: Final = "supportsEvaluateForHovers"
SUPPORTS_EXCEPTION_FILTER_OPTIONS: Final = "supportsExceptionFilterOptions"
SUPPORTS_EXCEPTION_INFO_REQUEST: Final = "supportsExceptionInfoRequest"
SUPPORTS_EXCEPTION_OPTIONS: Final = "supportsExceptionOptions"
SUPPORTS_FUNCTION_BREAKPOINTS: Final = "supportsFunctionBreakpoints"
SUPPORTS_GOTO_TARGETS_REQUEST: Final = "supportsGotoTargetsRequest"
SUPPORTS_HIT_CONDITIONAL_BREAKPOINTS: Final = "supportsHitConditionalBreakpoints"
SUPPORTS_INSTRUCTION_BREAKPOINTS: Final = "supportsInstructionBreakpoints"
SUPPORTS_LOADED_SOURCES_REQUEST: Final = "supportsLoadedSourcesRequest"
SUPPORTS_LOG_POINTS: Final = "supportsLogPoints"
SUPPORTS_MODULES_REQUEST: Final = "supportsModulesRequest"
SUPPORTS_READ_MEMORY_REQUEST: Final = "supportsReadMemoryRequest"
SUPPORTS_RESTART_FRAME: Final = "supportsRestartFrame"
SUPPORTS_RESTART_REQUEST: Final = "supportsRestartRequest"
SUPPORTS_SET_EXPRESSION: Final = "supportsSetExpression"
SUPPORTS_SET_VARIABLE: Final = "supportsSetVariable"
SUPPORTS_SINGLE_THREAD_EXECUTION_REQUESTS: Final = "supportsSingleThreadExecutionRequests"
SUPPORTS_STEP_BACK: Final = "supportsStepBack"
SUPPORTS_STEP_IN_TARGETS_REQUEST: Final = "supportsStepInTargetsRequest"
SUPPORTS_STEPPING_GRANULARITY: Final = "supportsSteppingGranularity"
SUPPORTS_TERMINATE_REQUEST: Final = "supportsTerminateRequest"
SUPPORTS_TERMINATE_THREADS_REQUEST: Final = "supportsTerminateThreadsRequest"
SUPPORTS_VALUE_FORMATTING_OPTIONS: Final = "supportsValueFormattingOptions"
SUPPORTS_WRITE_MEMORY_REQUEST: Final = "supportsWriteMemoryRequest"
