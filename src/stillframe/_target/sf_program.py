"""The user's program, started so that it sees what a plain run would show it: argv, path, `__main__`, tracebacks."""

import io
import os
import sys
import types

MISSING = 2  # python's own exit code for a file that it cannot open
KEPT = ("__main__", "threading", "linecache", "tokenize", "traceback")  # asked for again by the interpreter, and by us


class Program:
    """Something that can be run as `__main__`. `path` is its source file, `<string>` for code, None if not yet known.

    A subclass has `entry()`: (callable, arguments) that run it, with nothing of ours between that and its first frame.
    """

    path = None
    source = None

    def attributes(self):
        return {}

    def claim(self, db):
        """Say that the program's code is the user's, where pydevd would not know."""

    def become_main(self):
        """Put a fresh `__main__` in the place of our start-up script, which lives on under no name."""
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = sys.modules["builtins"]
        if sys.version_info < (3, 14):
            module.__dict__["__annotations__"] = {}
        module.__dict__.update(self.attributes())
        self._start_up_script = sys.modules["__main__"]  # its globals must outlive its place in sys.modules
        sys.modules["__main__"] = module


class Code(Program):
    """`python -c CODE`, and the compiled form of a script."""

    def __init__(self, code, path, attributes, source=None):
        self.code = code
        self.path = path
        self.source = source
        self._attributes = attributes

    def attributes(self):
        return self._attributes

    def claim(self, db):
        """Code of `-c` is the user's wherever it is called from: pydevd 1.8.22 takes it for a library's where library code
        calls it, as in every thread and every task, and stops nowhere in it."""
        cache, codes = db.get_cache_file_type(), [self.code] if self.source is not None else []
        while codes:
            code = codes.pop()
            cache[code.co_firstlineno, self.path, code] = None
            codes += [each for each in code.co_consts if type(each) is types.CodeType]

    def entry(self):
        return exec, (self.code, sys.modules["__main__"].__dict__)


class Module(Program):
    """`python -m NAME`, and a folder or zip file with a `__main__`: run by runpy, as the interpreter itself does."""

    def __init__(self, name, alter_argv):
        self.name = name
        self.alter_argv = alter_argv
        self.path = _find_module_source(name)

    def entry(self):
        import runpy

        if self.name != "__main__":
            sys.modules.pop(self.name, None)  # it may have come with the debugger, and runpy would warn of it
        return runpy._run_module_as_main, (self.name, self.alter_argv)


def prepare(argv, is_module):
    """Read and compile what argv names, set sys.argv and sys.path as a plain run has them, and give the Program."""
    if is_module:
        name, argv[0] = argv[0], "-m"
        _lead_path_with(os.getcwd())
        return Module(name, True)
    if argv[0] == "-c":
        source = argv.pop(1)
        _lead_path_with("")
        import importlib.machinery as machinery

        _remember_source(source)
        code = compile(source, "<string>", "exec", dont_inherit=True)
        return Code(code, "<string>", {"__loader__": machinery.BuiltinImporter}, source)
    return _prepare_path(argv[0])


def _prepare_path(name):
    full = os.path.join(os.getcwd(), name) if sys.version_info >= (3, 9) else name  # not normalised: nor is it there
    if _is_path_entry(name):
        sys.path.insert(0, full)
        return Module("__main__", False)
    _lead_path_with(os.path.dirname(os.path.realpath(name)))
    try:
        with io.open_code(os.path.abspath(name)) as file:
            data = file.read()
    except OSError as error:
        program = getattr(sys, "orig_argv", [sys.executable])[0]
        text = "%s: can't open file %r: [Errno %s] %s\n" % (program, full, error.errno, error.strerror)
        sys.stderr.write(text)
        sys.exit(MISSING)
    return _prepare_script(full, data)


def _prepare_script(full, data):
    import importlib.machinery as machinery

    loader = machinery.SourceFileLoader("__main__", full)
    if full.endswith(".pyc"):
        import marshal

        code = marshal.loads(data[16:])
        loader = machinery.SourcelessFileLoader("__main__", full)
    else:
        code = compile(data, full, "exec", dont_inherit=True)
    attributes = {"__file__": full, "__cached__": None, "__loader__": loader}
    return Code(code, os.path.abspath(full), attributes)


def _is_path_entry(name):
    """Whether an import hook takes this path: the interpreter's own test for folders and zip files."""
    for hook in sys.path_hooks:
        try:
            hook(name)
        except ImportError:
            continue
        return True
    return False


def _lead_path_with(entry):
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        sys.path.insert(0, entry)


def _remember_source(source):
    """Python 3.13 and later show lines of `-c` code in tracebacks, so linecache must know them here as there."""
    if sys.version_info >= (3, 13):
        import linecache

        linecache.cache["<string>"] = (len(source), None, source.splitlines(True), "<string>")


def _find_module_source(name):
    """The file that `-m NAME` will run, found without importing the packages above it; None if that cannot be told."""
    from importlib.machinery import PathFinder

    locations, spec, parts = None, None, name.split(".")
    for depth in range(len(parts)):
        try:
            spec = PathFinder.find_spec(".".join(parts[: depth + 1]), locations)
        except (ImportError, ValueError, OSError):
            return None
        if spec is None:
            return None
        locations = spec.submodule_search_locations
    if locations is not None:
        spec = PathFinder.find_spec(name + ".__main__", locations)
    origin = spec.origin if spec is not None and spec.has_location else None
    return os.path.abspath(origin) if origin and origin.endswith(".py") else origin


def forget_shadowed(fresh, ahead):
    """Let the program import its own module where it has one of a name that the debugger needed the library's for.

    `fresh` are the modules that came with the debugger, `ahead` so many entries of sys.path are before the library.
    """
    own = set()
    for entry in sys.path[:ahead]:
        try:
            own.update(name.partition(".")[0] for name in os.listdir(entry or "."))
        except OSError:  # no folder
            continue
    for name in fresh:
        top = name.partition(".")[0]
        if top in own and top not in KEPT and not name.startswith(("pydev", "_pydev")):
            sys.modules.pop(name, None)


def restore_interpreter_words(plain_command):
    """Make sys.orig_argv and sys._xoptions those of the plain command."""
    sys._xoptions.pop("frozen_modules", None)
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = plain_command(sys.orig_argv)


def hide_own_frames(folder):
    """Have the traceback that ends the program start at the program: called while its last exception passes.

    The hook that prints it, python's own or the program's, is called with the trimmed traceback and put back first.
    """
    shown = sys.excepthook

    def trimmed(kind, error, trace):
        sys.excepthook = shown
        while trace is not None and os.path.dirname(trace.tb_frame.f_code.co_filename) == folder:
            trace = trace.tb_next
        error.__traceback__ = sys.last_traceback = trace
        shown(kind, error, trace)

    sys.excepthook = trimmed


def _prints_to_the_debugger():
    """Whether stdout is that of the program which the debugger started, not a pipe or file of this process's own."""
    try:
        own, leader = os.fstat(1), os.stat("/proc/%d/fd/1" % os.getsid(0))
    except OSError:  # it cannot be told
        return True
    return (own.st_dev, own.st_ino) == (leader.st_dev, leader.st_ino)


def print_by_lines():
    """Let a printed line arrive when it is printed, as on a terminal: into a pipe it would wait for 8 KB more."""
    stream = sys.stdout
    if not _prints_to_the_debugger():
        return
    if type(stream).__name__ == "TextIOWrapper" and not stream.line_buffering and not stream.write_through:
        stream.reconfigure(line_buffering=True)
