"""`dbg completion bash | zsh | fish`: static functions made from the catalogue; only ids are asked of the daemon."""

import posix

from . import link, rendezvous, words
from .catalogue import HASH, VERBS, VERSION
from .jsonline import encode
from .mcp_verb import SWITCHES, VALUED
from .parser import GLOBALS
from .usage import Usage, nearest
from .words import spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .shapes import Field, Json

SHELLS = ("bash", "zsh", "fish")
_IDS = {
    ("unbreak", "ids"): "breakpoints",
    ("enable", "ids"): "breakpoints",
    ("disable", "ids"): "breakpoints",
    ("thread", "which"): "threads",
    ("use", "name"): "sessions",
    ("replay", "run"): "runs",
    ("diff", "first"): "runs",
}
"""Words of a verb that are ids of something which only the daemon knows."""
AGENTS = ("claude", "codex", "cursor", "gemini", "copilot", "vscode")
_WORDS = {
    "catch": ("uncaught", "raised", "user", "off"),
    "frame": ("up", "down"),
    "install": AGENTS,
    "uninstall": AGENTS,
}
"""Words of a verb that are mostly one of these."""
_OWN_WORDS = {"completion": SHELLS, "daemon": ("status", "stop")}
_MCP = (*VALUED, *SWITCHES)


def run(arguments: "list[str]", as_json: bool = False) -> int:
    from .main import tell

    match arguments:
        case ["--ids", kind]:
            return _ids(kind)
        case ["bash"]:
            script = bash()
        case ["zsh"]:
            script = zsh()
        case ["fish"]:
            script = fish()
        case _:
            named = next((word for word in arguments if not word.startswith("-")), "")
            message = f"no completion for {named!r}" if named else "completion needs a shell"
            raise Usage(message, ["completion", nearest(named, SHELLS) or "bash"], "completion")
    return tell("completion", {"text": script}, script, as_json)


def _ids(kind: str) -> int:
    """The daemon's ids of a kind, one a line; nothing where there is no daemon, since a completion must not start one."""
    from .main import write

    request: dict[str, Json] = {
        "v": 1,
        "catalogue": HASH,
        "version": VERSION,
        "op": "complete",
        "args": {"kind": kind},
        "session": rendezvous.variable("STILLFRAME_SESSION") or None,
        "client": rendezvous.variable("STILLFRAME_CLIENT") or f"sid:{posix.getsid(0)}",
        "cwd": posix.getcwd(),
    }
    try:
        return link.converse((encode(request) + "\n").encode("ascii"), write, start=False)
    except (link.NoDaemon, link.Gone):
        return 0


def verb_words() -> "list[str]":
    aliases = [alias for alias, meant in words.ALIASES.items() if meant in VERBS and len(alias) > 2]
    return sorted({*VERBS, *aliases, *words.BUILT_IN})


def flag_words(name: str) -> "list[str]":
    found = [spelling for field in VERBS[name]["fields"] for spelling in spellings(field)]
    found += [spelling for field in GLOBALS for spelling in spellings(field)]
    return [flag for flag in found if flag.startswith("--")]


def value_words() -> "list[tuple[list[str], str, list[str]]]":
    """Flags whose values are a closed set: the names of the verb (none where it is every verb's), the flag, the values."""
    fields = [(names_of(name).split("|"), each) for name, verb in VERBS.items() for each in verb["fields"]]
    fields += [([], each) for each in GLOBALS]
    return [(names, each["flag"], each["choices"]) for names, each in fields if "flag" in each and each.get("choices")]


def _asked(names: "list[str]", flag: str) -> str:
    """A verb and the flag before the word that is wanted, as a shell's pattern."""
    return "|".join(f"{name}:{flag}" for name in names or ["*"])


def _takes_file(field: "Field") -> bool:
    return field["kind"] in ("place", "break") or field["name"] in ("program", "cwd", "stdin", "python", "file", "args")


def names_of(verb: str) -> str:
    """The canonical verb and every alias of it, as a shell's pattern."""
    aliases = {alias for alias, meant in words.ALIASES.items() if meant == verb} | set(VERBS[verb].get("aliases", ()))
    return "|".join([verb, *sorted(aliases - set(VERBS))])


def bash() -> str:
    flags = "\n".join(f"    {names_of(name)}) words={_quoted(flag_words(name))} ;;" for name in VERBS)
    ids = "\n".join(f"    {names_of(verb)}) ids={kind} ;;" for (verb, _), kind in _IDS.items() if verb in VERBS)
    values = "\n".join(f"    {_asked(names, flag)}) words={_quoted(each)} ;;" for names, flag, each in value_words())
    fixed = "\n".join(f"    {verb}) words={_quoted(list(each))} ;;" for verb, each in _WORDS.items())
    return f"""\
# bash completion of dbg {VERSION}; load it with: eval "$(dbg completion bash)"
_dbg() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb= words= ids= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
    --) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    --session|-s|--budget|--limit|--allow) ((i++)) ;;
    -*) ;;
    *) [[ $verb ]] || verb=${{COMP_WORDS[i]}} ;;
    esac
  done
  case $verb:$prev in
    *:--session|*:-s) COMPREPLY=($(compgen -W "$(dbg completion --ids sessions 2>/dev/null)" -- "$cur")); return ;;
{values}
  esac
  if [[ $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi
  if [[ -z $verb && $cur != -* ]]; then
    COMPREPLY=($(compgen -W {_quoted(verb_words())} -- "$cur")); return
  fi
  case $verb in
{flags}
    '') words='--json --session --budget --allow --help --version' ;;
    completion) words='bash zsh fish' ;;
    daemon) words='status stop' ;;
    mcp) words={_quoted(list(_MCP))} ;;
    help) words={_quoted(verb_words())} ;;
  esac
  if [[ $cur != -* ]]; then case $verb in
{fixed}
  esac; fi
  case $verb in
{ids}
    completion|daemon|help|mcp|{"|".join(_WORDS)}) COMPREPLY=($(compgen -W "$words" -- "$cur")); return ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  elif [[ $ids ]]; then
    COMPREPLY=($(compgen -W "$(dbg completion --ids "$ids" 2>/dev/null)" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}}
complete -o filenames -F _dbg dbg stillframe
"""


def _quoted(found: "list[str]") -> str:
    return "'" + " ".join(found) + "'"


def zsh() -> str:
    flags = "\n".join(f"    {names_of(name)}) flags=({' '.join(flag_words(name))}) ;;" for name in VERBS)
    ids = "\n".join(f"    {names_of(verb)}) ids={kind} ;;" for (verb, _), kind in _IDS.items() if verb in VERBS)
    values = "\n".join(
        f"    {_asked(names, flag)}) compadd -- {' '.join(each)}; return ;;" for names, flag, each in value_words()
    )
    fixed = "\n".join(f"    {verb}) compadd -- {' '.join(each)}; return ;;" for verb, each in _WORDS.items())
    return f"""\
#compdef dbg stillframe
# zsh completion of dbg {VERSION}; load it with: eval "$(dbg completion zsh)"
_dbg() {{
  local verb= ids= i
  local -a flags
  for ((i = 2; i < CURRENT; i++)); do
    case ${{words[i]}} in
    --) _files; return ;;
    --session|-s|--budget|--limit|--allow) ((i++)) ;;
    -*) ;;
    *) [[ -n $verb ]] || verb=${{words[i]}} ;;
    esac
  done
  case $verb:${{words[CURRENT-1]}} in
    *:--session|*:-s) compadd -- ${{(f)"$(dbg completion --ids sessions 2>/dev/null)"}}; return ;;
{values}
  esac
  if [[ -z $verb && ${{words[CURRENT]}} != -* ]]; then compadd -- {" ".join(verb_words())}; return; fi
  case $verb in
{flags}
    '') flags=(--json --session --budget --allow --help --version) ;;
    completion) compadd -- bash zsh fish; return ;;
    daemon) compadd -- status stop; return ;;
    mcp) compadd -- {" ".join(_MCP)}; return ;;
    help) compadd -- {" ".join(verb_words())}; return ;;
  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then compadd -- $flags; return; fi
  case $verb in
{fixed}
{ids}
  esac
  if [[ -n $ids ]]; then compadd -- ${{(f)"$(dbg completion --ids $ids 2>/dev/null)"}}; else _files; fi
}}
if (( $+functions[compdef] )); then compdef _dbg dbg stillframe; fi
"""


_FISH = """\
function __dbg_verb
  set -l value 0
  for word in (commandline -opc)[2..-1]
    if test $value = 1
      set value 0
      continue
    end
    switch $word
      case --session -s --budget --limit --allow
        set value 1
      case '-*'
      case '*'
        echo $word
        return
    end
  end
end
function __dbg_bare
  test -z (__dbg_verb | string collect --allow-empty)
end
function __dbg_in
  contains -- (__dbg_verb | string collect --allow-empty) $argv
end"""
"""The verb of a line, whichever flags stand before it; fish's own functions take a flag's value for it."""


def fish() -> str:
    lines = [f"# fish completion of dbg {VERSION}; load it with: dbg completion fish | source", _FISH]
    lines += [f"complete -c dbg -n __dbg_bare -f -a {name}" for name in verb_words()]
    lines.append("complete -c dbg -f -s s -l session -x -a '(dbg completion --ids sessions 2>/dev/null)'")
    lines += [f"complete -c dbg -l {field['flag'][2:]}" for field in GLOBALS if field["kind"] == "bool"]
    lines.append("complete -c dbg -l budget -x")
    for names, flag, choices in value_words():
        lines.append(f"complete -c dbg{_fish_in(names)} -l {flag[2:]} -x -a '{' '.join(choices)}'")
    for verb_name, fixed in (*_WORDS.items(), *_OWN_WORDS.items(), ("help", verb_words())):
        lines.append(f"complete -c dbg{_fish_in([verb_name])} -f -a '{' '.join(fixed)}'")
    lines += [f"complete -c dbg{_fish_in(['mcp'])} -f -l {flag[2:]}" for flag in _MCP]
    for name, verb in VERBS.items():
        seen = _fish_in(names_of(name).split("|"))
        for field in verb["fields"]:
            for flag in [each for each in spellings(field) if each.startswith("--")]:
                value = "" if field["kind"] == "bool" else " -r" if _takes_file(field) else " -x"
                lines.append(f"complete -c dbg{seen} -l {flag[2:]}{value}")
    for (verb_name, _), kind in _IDS.items():
        if verb_name in VERBS:
            seen = _fish_in(names_of(verb_name).split("|"))
            lines.append(f"complete -c dbg{seen} -f -a '(dbg completion --ids {kind} 2>/dev/null)'")
    return "\n".join(lines) + "\ncomplete -c stillframe -w dbg\n"


def _fish_in(names: "list[str]") -> str:
    """Where a completion holds: behind one of these verbs, or anywhere."""
    return f" -n '__dbg_in {' '.join(names)}'" if names else ""
