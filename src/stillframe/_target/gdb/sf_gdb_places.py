"""Where lines and functions of a native program really are, as gdb itself would have it: runs inside gdb."""

import os
import re

import gdb
import sf_gdb_frames as frames
import sf_gdb_spoken as spoken

_COMPARED = set()
_OBJECTS = []
_NAMED = {}
"""What was found by names in these objects: to look through all of Rust's own library takes gdb a tenth of a second."""


def newer(file, objfile):
    """A warning where a source was changed after the program was made of it, once for each file; else None."""
    if file in _COMPARED or not file or objfile is None or not objfile.filename:
        return None
    _COMPARED.add(file)
    try:
        if os.stat(file).st_mtime <= os.stat(objfile.filename).st_mtime:
            return None
    except OSError:  # one of them is not here
        return None
    names = file.rpartition("/")[2], objfile.filename.rpartition("/")[2]
    return "warning: %s is newer than %s: its lines may not be those that run\n" % names


def resolve(files, symbols):
    return {
        "files": {path: _file(path, lines) for path, lines in files.items()},
        "symbols": [symbol(each.get("name") or "", each.get("module")) for each in symbols],
    }


def _file(path, lines):
    told = [_line(path, int(line)) for line in lines]
    loaded = any([each.pop("known") for each in told])
    return {"loaded": loaded, "lines": told, "like": [] if loaded else _like(path)}


def _like(path):
    """The files of the same name that the program was made of: one that was built elsewhere has its sources under other paths."""
    pattern = "^%s$" % re.escape(os.path.basename(path))
    try:
        found = gdb.execute_mi("-file-list-exec-source-files", "--basename", "--", pattern).get("files") or ()
    except gdb.error:  # a name that makes no pattern
        return []
    return sorted({each["fullname"] for each in found if frames.is_users(each.get("fullname"))} - {path})


def _line(path, line):
    """What gdb would make of a line: the line itself, the next one of its function that has code, or why there is none."""
    try:
        # Asked first, since for a breakpoint that it cannot place gdb also prints why.
        spoken.line(path, line)
    except gdb.error as error:
        # gdb 18 says the first, gdb 14 the second.
        if "No compiled code" in str(error) or "No line" in str(error):
            return {"asked": line, "actual": None, "reason": _no_code(path, line), "known": True}
        return {"asked": line, "actual": line, "known": False}
    found = [place[1] for place in _locations(source=path, line=line) if place]
    actual = line if line in found or not found else min(found)
    return {"asked": line, "actual": actual, "known": True}


def _locations(**where):
    """File and line of each place where a breakpoint would be, as gdb says of a real one; None for one without source."""
    made = gdb.Breakpoint(internal=True, **where)
    try:
        return [(each.fullname or each.source[0], each.source[1]) if each.source else None for each in made.locations]
    finally:
        made.delete()


def _no_code(path, line):
    try:
        with open(path, "rb") as file:
            count = len(file.read().splitlines())
    except OSError:
        return "no compiled code for line %d" % line
    if line > max(count, 1):
        return "%s has %d line%s" % (path.rpartition("/")[2], count, "" if count == 1 else "s")
    return "no compiled code for line %d" % line


def symbol(name, module):
    """Where a function begins after its prologue; None for one that nobody knows."""
    if "'" in name or (module and "'" in module):
        return None
    where = spot(name, module)
    if "line" not in where and not _is_known(where["function"], module):
        return None
    places = _locations(**where)
    first = next((each for each in places if each), (None, None))
    return {"file": first[0], "line": first[1], "places": len(places)} if places else None


def spot(name, module=None):
    """What a breakpoint of gdb's is to be given for a function: its name with its scopes, where gdb knows it only so, as
    Rust's by their bare name; or its line, where the compiler made several functions of it, one for each type."""
    of = {"source": module} if module else {}
    if _is_known(name, None) or not re.match(r"^[\w:]+$", name):
        return dict(of, function=name)
    full = next((each for _, each, _ in _named(name, "$") if each.endswith("::" + name)), None)
    if full is not None:
        return dict(of, function=full)
    last = name.rpartition("::")[2]
    kinds = [each for each in _named(last, "<") if each[0] and each[2] and _plain(each[1]).endswith("::" + name)]
    kinds.sort(key=lambda each: not frames.is_users(each[0]))
    return {"source": kinds[0][0], "line": kinds[0][2]} if kinds and not module else dict(of, function=name)


def _named(name, end):
    """File, name and line of the functions whose names hold this one. A function that is missing is asked for at every stop,
    and can only come with another object."""
    objects = gdb.objfiles()
    if objects != _OBJECTS:
        _OBJECTS[:] = objects
        _NAMED.clear()
    if (name, end) not in _NAMED:
        _NAMED[name, end] = _search(name, end)
    return _NAMED[name, end]


def _search(name, end):
    """gdb's patterns have no alternatives."""
    found = gdb.execute_mi("-symbol-info-functions", "--name", name + end, "--max-results", "50").get("symbols", {})
    return [
        (file.get("fullname"), each["name"], each.get("line"))
        for file in found.get("debug", ())
        for each in file["symbols"]
    ]


def _plain(name):
    """A name without the types that it was made for."""
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name


def _is_known(name, module):
    try:
        return bool(spoken.function(name, module))
    except gdb.error:
        return False


def modules(start, count):
    """The objects that the program has loaded: itself and its libraries."""
    rows = []
    for each in gdb.objfiles():
        if each.is_valid() and each.filename and each.owner is None:
            rows.append({"name": each.filename.rpartition("/")[2], "file": each.filename, "user": not rows})
    return {"modules": rows[start : start + count], "total": len(rows)}
