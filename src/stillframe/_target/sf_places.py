"""Where code is: which lines of a file hold code for this interpreter, where a symbol begins, what is loaded."""

import ast
import dis
import io
import os
import stat
import sys
import tokenize

import pydevd_file_utils
from _pydevd_bundle import pydevd_api, sf_frames, sf_judging, sf_tracing
from _pydevd_bundle.pydevd_constants import get_global_debugger
from _pydevd_sys_monitoring import _pydevd_sys_monitoring
from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

INNER = ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")
LOOPS = frozenset(dis.opmap[name] for name in ("FOR_ITER", "GET_ANEXT") if name in dis.opmap)
THROWN_INTO = dis.opmap.get("CLEANUP_THROW", -1)  # 3.13 tells an `await` again where an exception comes into it
BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.Try)
CO_OPTIMIZED = 0x01  # a function's code has it, and not a module's or a class's
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """A compiled file: its lines with code, and its functions as (qualified name, first line of the body)."""

    def __init__(self, path, text):
        self.name = os.path.basename(path)
        self.count = text.count("\n") + (1 if text and not text.endswith("\n") else 0)
        self.problem = None
        self.lines = []
        self.spans = {}  # line that a statement of several lines, no loop, begins on to its first and last line
        self.holders = {}  # line to the code objects that have it, as {(name, first line): depth}
        self.variables = {}  # line to the variables of functions that have it
        self.names = {}  # (name, first line) of a code object to its qualified name, where it does not tell that itself
        self.tree = None
        try:
            self.tree = compile(text, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
            code = compile(self.tree, path, "exec", dont_inherit=True)
        except SyntaxError as error:
            self.problem = "%s does not compile: %s, line %s" % (self.name, error.msg, error.lineno)
        except (ValueError, RecursionError, MemoryError) as error:
            self.problem = "%s does not compile: %s" % (self.name, error)
        else:
            self.holders = _holders(code, 0, {}, self.variables)
            self.names = {} if hasattr(code, "co_qualname") else _names(code, "", {})
            self.lines = sorted(self.holders)
            self.spans = _spans(self.tree)
        self._functions = None

    def line_at_or_after(self, line):
        return next((found for found in self.lines if found >= line), None)

    def place(self, line):
        """The contract's answer for one asked line."""
        answer = {"asked": line, "actual": None}
        if self.problem is not None:
            answer["reason"] = self.problem
        elif line > self.count:
            answer["reason"] = "%s has %d line%s" % (self.name, self.count, "" if self.count == 1 else "s")
        else:
            answer["actual"] = self.line_at_or_after(max(line, 1))
            if answer["actual"] is None:
                answer["reason"] = "no code at or after line %d" % line
        return answer

    def functions(self):
        if self._functions is None:
            self._functions = []
            if self.tree is not None:
                self._collect(self.tree, "")
        return self._functions

    def _collect(self, node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FUNCTIONS):
                name = prefix + child.name
                self._functions.append((name, self.line_at_or_after(_first_line(child))))
                self._collect(child, name + ".<locals>.")
            elif isinstance(child, ast.ClassDef):
                self._collect(child, prefix + child.name + ".")
            else:
                self._collect(child, prefix)


def _first_line(function):
    """The line of the first statement of the body that can hold code: a docstring holds none."""
    body = function.body
    first = body[0]
    if len(body) > 1 and isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
        first = body[1]
    return min([first.lineno] + [one.lineno for one in getattr(first, "decorator_list", ())])


def _holders(code, depth, found, variables):
    """Lines where a stop can happen, with whose they are. 3.11 and later give module and class code a line 0: no stop there."""
    for _, line in dis.findlinestarts(code):
        if line:
            found.setdefault(line, {}).setdefault((code.co_name, code.co_firstlineno), depth)
            variables.setdefault(line, set()).update(code.co_varnames)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            _holders(constant, depth + 1, found, variables)
    return found


def _names(code, prefix, found):
    """The qualified names of all code below, as Python 3.11 gives them; of two that cannot be told apart the first."""
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            name = prefix + constant.co_name
            found.setdefault((constant.co_name, constant.co_firstlineno), name)
            is_function = constant.co_flags & CO_OPTIMIZED
            _names(constant, name + (".<locals>." if is_function else "."), found)
    return found


def _spans(tree):
    """Statements that a run may come back into from their later lines: calls over several lines, `with`, decorated ones."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, BLOCKS):
            continue
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            first, last = min([first] + [one.lineno for one in node.decorator_list]), node.lineno
            found[last] = (first, last)
        if isinstance(node, ast.stmt) and (last > first or _has_loop(node)):
            found[first] = (first, last)
    return found


def _has_loop(statement):
    """Whether its own code has the loop of a comprehension: from 3.12 on those are no functions of their own."""
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp)
    return sys.version_info >= (3, 12) and any(isinstance(node, kinds) for node in ast.walk(statement))


def _comes_back(code, offset, line, span):
    """Whether this offset, on a line of a statement, lies behind where the line began, in one piece with the statement."""
    began, here = None, None
    for start, found in _starts(code):
        if start > offset:
            break
        if found is not None and not span[0] <= found <= span[1]:
            began = None
        elif found == line:
            here = start
            began = start if began is None else began
    if began is None or here is None:
        return False
    # 3.12.1 tells the line again for each turn of a comprehension.
    return began < here or (began < offset and code.co_code[offset] in LOOPS)


def _starts(code):
    if code not in _known_starts:
        if len(_known_starts) > 1000:
            _known_starts.clear()
        _known_starts[code] = list(dis.findlinestarts(code))
    return _known_starts[code]


_known_starts = {}


def _matches(qualified, asked):
    """How well a qualified name answers an asked one: 2 wholly, 1 by its last parts, 0 not."""
    plain = qualified.replace("<locals>.", "")
    if asked in (qualified, plain):
        return 2
    return 1 if plain.endswith("." + asked) else 0


class Places:
    """The answers of `resolve`, `loaded` and `modules` for one process."""

    def __init__(self, program):
        self.program = program
        self.sources = {}
        self.real = {}
        self.named = set()
        self.names = {}  # a code object's id to it, so that it is not another's, and its qualified name

    def install(self):
        """Answer in the place of pydevd's own functions, and those of its questions that only we can answer."""
        relative = pydevd_file_utils._get_relative_filename_abs_path

        def absolute(path, *others):  # pydevd 1.8.22 looks for files alone, then takes a library's folder
            whole = os.path.abspath(path)
            return whole if _archive(whole) else relative(path, *others)

        pydevd_file_utils._get_relative_filename_abs_path = absolute
        pydevd_file_utils.exists = self.exists
        pydevd_api._get_code_lines = self.code_lines
        sf_frames.Names.of = self.name_of
        sf_judging.Asked.owns = staticmethod(self.owns)
        sf_judging.Asked.is_of_another = staticmethod(self.is_of_another)

    def main_file(self):
        """The program's own file: known before it runs, or found in the process that we joined."""
        if self.program is not None and self.program.path is not None:
            return self.program.path
        return next((path for name, path in _module_files() if name == "__main__"), None)

    def realpath(self, path):
        if path not in self.real:
            self.real[path] = path if path.startswith("<") else os.path.realpath(path)
        return self.real[path]

    def source(self, path):
        """The Source of a path, or one sentence saying why there is none."""
        if path == "<string>":
            if self.program is None or self.program.source is None:
                return "no such file"
            return self._cached(path, None, lambda: self.program.source)
        archive = _archive(path)
        try:
            state = os.stat(archive or path)
        except PermissionError:
            return "not permitted to look at it"
        except (OSError, ValueError):
            return "no such file"
        if not stat.S_ISREG(state.st_mode) and not stat.S_ISDIR(
            state.st_mode
        ):  # a pipe waits for a writer, a device has no end
            return "it is no plain file"
        try:
            return self._cached(path, (state.st_mtime_ns, state.st_size), lambda: _read(path, archive))
        except (OSError, ImportError, UnicodeError, SyntaxError) as error:
            return "%s cannot be read: %s" % (os.path.basename(path), error)

    def code_lines(self, path):
        """Stands for pydevd's function of this kind, which compiles the file anew for each breakpoint (1.8.22)."""
        source = self.source(path)
        if isinstance(source, str) or source.problem is not None:
            raise ValueError(path)
        return source.lines

    def exists(self, path):
        """Stands for pydevd's function of this kind, which knows members of archives by the ending of their name (1.8.22)."""
        return os.path.exists(path) or not isinstance(self.source(path), str)

    def name_of(self, frame):
        """The qualified name of a frame's code, for Python before 3.11."""
        code = frame.f_code
        held = self.names.get(id(code))
        if held is None:
            source = self.source(get_abs_path_real_path_and_base_from_frame(frame)[0])
            known = {} if isinstance(source, str) else source.names
            held = self.names[id(code)] = (code, known.get((code.co_name, code.co_firstlineno), code.co_name))
        return held[1]

    def owns(self, frame, line):
        """Whether a breakpoint on this line is for this frame now: not for a comprehension inside the statement that is
        there, nor where a statement of several lines comes back to its first one, or an exception comes into what waits."""
        abs_path, real_path, _ = get_abs_path_real_path_and_base_from_frame(frame)
        held = self.sources.get(abs_path) or self.sources.get(real_path)
        if held is None:
            return True
        code, span = frame.f_code, held[1].spans.get(line)
        if frame.f_lasti >= 0 and code.co_code[frame.f_lasti] == THROWN_INTO:
            return False
        if span is not None and _comes_back(code, frame.f_lasti, line, span):
            return False
        if code.co_name not in INNER:
            return True
        holders = held[1].holders.get(line, {})
        depth = holders.get((code.co_name, code.co_firstlineno))
        return depth is None or depth == min(holders.values())

    def is_of_another(self, frame, line, name):
        """Whether a name that is not known in this frame is a variable of a function on the same line."""
        abs_path, real_path, _ = get_abs_path_real_path_and_base_from_frame(frame)
        held = self.sources.get(abs_path) or self.sources.get(real_path)
        return held is not None and name in held[1].variables.get(line, ()) and name not in frame.f_code.co_varnames

    def _cached(self, path, stamp, read):
        held = self.sources.get(path)
        if held is None or held[0] != stamp:
            held = self.sources[path] = (stamp, Source(path, read()))
        return held[1]

    def resolve(self, files, symbols):
        self.named.update(files)
        loaded = set(self.loaded(list(files)))
        return {
            "files": {path: self._file(path, lines, path in loaded) for path, lines in files.items()},
            "symbols": [self._symbol(one["name"], one.get("module")) for one in symbols],
        }

    def _file(self, path, lines, loaded):
        source = self.source(path)
        if isinstance(source, str):
            return {"loaded": loaded, "lines": [{"asked": n, "actual": None, "reason": source} for n in lines]}
        return {"loaded": loaded, "lines": [source.place(line) for line in lines]}

    def _symbol(self, name, module):
        best, rank = None, 0
        for path in self._searched(module):
            source = self.source(path)
            if isinstance(source, str):
                continue
            for qualified, line in source.functions():
                match = _matches(qualified, name)
                if match > rank and line is not None:
                    best, rank = {"file": path, "line": line, "function": qualified}, match
        return best if best is not None or module is not None else self._symbol_elsewhere(name)

    def _symbol_elsewhere(self, name):
        """A name that says its module itself (`json.dumps`, or `cart.total` of `shop.cart`), or of a class that some loaded
        module has."""
        parts = name.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:cut])
            if module in sys.modules:
                return self._symbol(".".join(parts[cut:]), module)
            if any(each.endswith("." + module) for each in list(sys.modules)):
                found = self._symbol(".".join(parts[cut:]), module)
                if found is not None:
                    return found
        for held in list(sys.modules.values()) if len(parts) > 1 else ():
            kind = getattr(held, "__dict__", {}).get(parts[0])
            if isinstance(kind, type) and kind.__module__ in sys.modules:
                return self._symbol(name, kind.__module__)
        return None

    def _searched(self, module):
        """Files that may hold a symbol: the program's own first, then each loaded module of the user."""
        found = []
        main = self.main_file()
        if main is not None and (module in (None, "__main__", _stem(main)) or _is_module(main, module)):
            found.append(main)
        for name, path in list(_module_files()):
            if module is None:
                wanted = path not in found and self.is_user(path)
            else:
                wanted = path not in found and (name == module or name.endswith("." + module) or _stem(path) == module)
            if wanted and path.endswith((".py", ".pyw")):
                found.append(path)
        return found

    def is_user(self, path):
        db = get_global_debugger()
        return db is not None and db.in_project_roots_filename_uncached(path)

    def loaded(self, files):
        """The subset whose code has been loaded by now."""
        if not files:  # as at nearly every stop: a program may have thousands of modules
            return []
        present = {self.realpath(path) for _, path in _module_files()}
        main = self.main_file()
        if main is not None:
            present.add(self.realpath(main))
        found = [path for path in files if self.realpath(path) in present]
        if len(found) < len(files):
            running = {self.realpath(path) for path in sf_tracing.Tracing.executed.union(_files_seen_running())}
            found = [path for path in files if self.realpath(path) in present or self.realpath(path) in running]
        return found

    def ever_named(self):
        return sorted(self.loaded(sorted(self.named)))

    def modules(self, start, count):
        rows = []
        for name, path in _module_files():
            version = getattr(sys.modules.get(name), "__dict__", {}).get("__version__")
            rows.append(
                {
                    "name": name,
                    "file": path,
                    "user": self.is_user(path),
                    "version": version if type(version) is str else None,
                }
            )
        rows.sort(key=lambda row: (not row["user"], row["name"]))
        return {"modules": rows[start : start + count], "total": len(rows)}


def _stem(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(path)) if stem in ("__init__", "__main__") else stem


def _is_module(path, name):
    """Whether a file can be what a dotted name means: `json.tool` or `tool` is json/tool.py, `pkg` is pkg/__main__.py, too."""
    whole = os.path.splitext(path)[0]
    folder = os.path.dirname(whole)
    tried = [whole, folder] if os.path.basename(whole) in ("__init__", "__main__") else [whole]
    return any(each.replace(os.sep, ".").endswith("." + name) for each in tried)


def _archive(path):
    """The file that a path leads into, where it names no file itself: a zip that modules are imported from."""
    found = path
    while found and not os.path.exists(found) and found != os.path.dirname(found):
        found = os.path.dirname(found)
    return found if found != path and os.path.isfile(found) else None


def _read(path, archive):
    if archive is None:
        with tokenize.open(path) as file:
            return file.read()
    import zipimport

    data = zipimport.zipimporter(archive).get_data(path)
    coding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), coding).read()


def _module_files():
    """(name, source file) of each module that has one, pydevd's and our own left out."""
    for name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if type(names) is not dict or name.startswith(("pydev", "_pydev")):
            continue
        path = names.get("__file__")
        if path is None:
            path = getattr(names.get("__spec__"), "origin", None)
        if type(path) is not str or path in ("built-in", "frozen"):
            continue
        if path.endswith(".pyc"):
            path = path[:-1]
        yield name, os.path.abspath(path) if name == "__main__" else path


def _files_seen_running():
    """Files of code that pydevd has met: also what is run by exec or runpy and is no module."""
    db = get_global_debugger()
    if db is None:
        return set()
    # pydevd 1.8.22 enters the file of each breakpoint too, with a dummy in the place of a code object.
    code_type = type(_files_seen_running.__code__)
    files = {key[1] for key in list(db.get_cache_file_type()) if type(key[2]) is code_type}
    files.update(code.co_filename for code in list(_pydevd_sys_monitoring._code_to_func_code_info_cache))
    return {path for path in files if path.startswith("/")}
