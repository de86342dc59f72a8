"""The start-up script inside a Python target: brings up debugpy's server, then runs the program as a plain run would.

Run as  PY -X frozen_modules=off .../_target/pydevd.py --json-dap-http --client HOST --port N --skip-notify-stdin
        [--multiprocess] [--module] --file PROGRAM args...          (PROGRAM is `-c` for code: `--file -c CODE args...`)

The file is called pydevd.py and runs the program in a function `_exec` with a local `t`, because pydevd 1.8.22 hides
frames of files of that name, finds "uncaught" by that function, and does not patch a command line that names it twice.

Settings come by environment and are taken out of it before the program starts, so that the program sees the
environment of a plain run: STILLFRAME_PYDEVD (folder of the vendored pydevd), STILLFRAME_TOKENS (server:client access
tokens, kept off the command line), STILLFRAME_PYCACHE (where its .pyc files go), STILLFRAME_ON_EOF (kill | resume).
They live on in `Settings`, and `sf_children` puts them back for each process that the program starts: a Python, which takes
them out again, or a shell, behind which there may be one. /proc/PID/environ of the process shows them to its owner.
STILLFRAME_RELAY marks multiprocessing's fork server, which is not debugged but whose forks are.
STILLFRAME_MARK is the daemon's, and stays.
"""

import gc
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The compiled callbacks of sys.monitoring, there for our own version alone, take none of ours.
COMPILED = "PYDEVD_USE_CYTHON"
OLDEST = (3, 8)


def _exec(t, run, arguments):
    """Run the program; pydevd reads `t`, the current thread, from this frame, and looks for it right below the program."""
    run(*arguments)


def plain_command(argv):
    """The command line of a plain run, from the one that started this script."""
    at = next((i for i, word in enumerate(argv) if word.endswith("pydevd.py")), None)
    if at is None or "--file" not in argv[at:]:
        return argv
    flags, rest = list(argv[:at]), argv[at + 1 :]
    if flags[1:3] == ["-X", "frozen_modules=off"]:
        del flags[1:3]
    split = rest.index("--file")
    return flags + (["-m"] if "--module" in rest[:split] else []) + rest[split + 1 :]


def user_entries(path):
    """How many entries of a sys.path stand before the standard library: what is there shadows its modules."""
    library = os.path.dirname(os.path.abspath(os.__file__))
    at = next((i for i, entry in enumerate(path) if entry and os.path.abspath(entry) == library), 0)
    return at - 1 if at and path[at - 1].endswith(".zip") and path[at - 1].startswith(sys.prefix) else at


def import_engine(vendored, pycache):
    """Import pydevd and our own modules beside it, leaving sys.path and the .pyc settings as they were.

    Meanwhile the program's own folders are not on the path: a `json.py` there would be taken for the library's.
    """
    prefix, silent = sys.pycache_prefix, sys.dont_write_bytecode
    if pycache:
        sys.pycache_prefix, sys.dont_write_bytecode = pycache, False
    path = list(sys.path)
    sys.path[:] = [vendored] + path[user_entries(path) :]
    try:
        import _pydevd_bundle

        _pydevd_bundle.__path__.append(HERE)
        from _pydevd_bundle import sf_greenlets, sf_unused

        asked, compiled = os.environ.get(sf_greenlets.SWITCH), os.environ.get(COMPILED)
        sf_greenlets.prepare(path)
        if sys.version_info >= (3, 12):
            os.environ[COMPILED] = "NO"
        with sf_unused.LeftOut():
            from _pydevd_bundle import sf_engine, sf_program, sf_requests  # noqa: F401

        sf_greenlets.settle(asked)
        if compiled is None:
            os.environ.pop(COMPILED, None)
        else:
            os.environ[COMPILED] = compiled
    finally:
        sys.pycache_prefix, sys.dont_write_bytecode = prefix, silent
        sys.path[:] = path
    _pydevd_bundle.__path__.remove(HERE)


def _main():
    if sys.version_info[:2] < OLDEST:  # a child with an interpreter that pydevd 1.8.22 cannot run in
        command = plain_command([sys.executable] + sys.argv)
        os.execv(sys.executable, command)
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        del sys.path[0]
    environment, plain, collects = os.environ, set(sys.modules), gc.isenabled()
    gc.disable()  # nothing of what is loaded goes again, and to look for it takes a tenth of the time
    import_engine(environment.get("STILLFRAME_PYDEVD", ""), environment.get("STILLFRAME_PYCACHE", ""))
    if collects:
        gc.enable()
    from _pydevd_bundle import sf_engine, sf_program, sf_reported, sf_requests

    settings = sf_engine.Settings.take(environment, os.path.abspath(__file__))
    setup = sf_engine.read_command_line(sys.argv, settings)
    sf_program.restore_interpreter_words(plain_command)
    try:
        program = sf_program.prepare(sys.argv, setup["module"])
        sf_requests.install(settings, program)
        db = sf_engine.connect(setup, settings)
        if db is not None:  # a child that nobody debugs runs on
            program.claim(db)
        program.become_main()
        sf_program.forget_shadowed(set(sys.modules) - plain, user_entries(sys.path))
        sf_program.print_by_lines()
        run, arguments = program.entry()
        _exec(
            sf_engine.begin(db), run, arguments
        )  # no call of ours once tracing is on: pydevd takes the first as the root
    except BaseException as error:
        # Whatever ends the program, SystemExit too: it passes, and is shown without our frames.
        sf_program.hide_own_frames(HERE)
        sf_reported.hold_without_place(error)
        raise


if __name__ == "__main__":
    _main()
