"""The programs that a file starts, as far as their names stand in it: words where a shell looks for a command, first words
of the lists that Python's subprocess gets, and what C++ executes. `certain` words are programs; a `likely` one is if
somebody knows a program of that name."""

import ast
import re

BUILTINS = set("""
. : [ [[ alias bg break builtin cd command continue declare echo eval exec exit export false fg getopts hash jobs kill let
local mapfile printf pwd read readarray readonly return set shift shopt source test times trap true type typeset ulimit umask
unset wait""".split())
KEYWORDS = set("if then elif else fi do done while until ! { } time".split())
# What follows is a command too, after options.
PREFIXES = set("builtin command env eval exec ionice nice nohup nsenter setpriv setsid stdbuf sudo time timeout unshare xargs".split())

TOKEN = re.compile(r"""
    (?P<blank>[ \t]+|\\\n) | (?P<comment>(?<![^\s;&|()])\#[^\n]*) | (?P<end>;;&?|&&|\|\|?|;|&(?!>)|\n)
  | (?P<redirect>\d*(?:<<<|<<-?|<&|>&|>>|>\||<>|&>|[<>]))(?P<close>-(?=\s))? | (?P<open>\() | (?P<shut>\)) | (?P<word>.)
""", re.X | re.S)
HERE = re.compile(r"<<(?P<dash>-?)\s*(?P<quote>['\"\\]?)(?P<name>[\w@]+)")


def closing(text, at, opened, closed):
    """The index after the bracket that closes the one at `at`; quotes are skipped."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'" and opened == "(":
            at = text.find("'", at + 1)
            if at < 0:
                return len(text)
        elif char == opened:
            depth += 1
        elif char == closed:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return at


def read_word(text, at, inner):
    """A word from `at` on, its end, and the texts of the command substitutions in it."""
    start, quoted = at, False
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 2
        elif char == '"':
            quoted, at = not quoted, at + 1
        elif char == "'" and not quoted:
            end = text.find("'", at + 1)
            at = end + 1 if end > 0 else len(text)
        elif text.startswith("$((", at):
            at = closing(text, at + 1, "(", ")")
        elif text.startswith("$(", at):
            end = closing(text, at + 1, "(", ")")
            inner.append(text[at + 2:end - 1])
            at = end
        elif text.startswith("${", at):
            at = closing(text, at + 1, "{", "}")
        elif not quoted and (char in " \t\n;&|()<>"):
            break
        else:
            at += 1
    return text[start:at], at


def without_here_documents(text):
    """A here document is data of one command."""
    lines, ends = [], []
    for line in text.split("\n"):
        if ends:
            name, dash = ends[0]
            if (line.lstrip("\t") if dash else line) == name:
                ends.pop(0)
            continue
        code = re.sub(r"'[^']*'(?!\w)|(?:^|\s)#.*", lambda m: "" if "#" in m[0][:2] else m[0], line)
        ends = [(m["name"], m["dash"]) for m in HERE.finditer(code) if not code[:m.start()].endswith("<")]
        lines.append(line)
    return "\n".join(lines)


def functions(text):
    """Those that a shell script defines."""
    return set(re.findall(r"^\s*(\w+)\(\)", text, re.M))


def shell(text):
    """(certain, likely) of a shell script."""
    certain, likely = set(), set()
    parse(without_here_documents(text), certain, likely)
    known = functions(text) | BUILTINS | set(re.findall(r"command -v ([\w-]+)", text))
    return certain - known, likely - known


def parse(text, certain, likely):
    at, expects, pattern, redirected, inner = 0, "command", False, False, []
    cases = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        kind = token.lastgroup if token.lastgroup != "close" else "redirect"
        if kind != "word":
            at = token.end()
            if kind == "end":
                pattern = cases > 0 and (token["end"].startswith(";;") or pattern and token["end"] in "|\n")
                expects = "command"
            elif kind == "shut":
                expects, pattern = "command", False
            elif kind == "open" and not pattern:
                expects = "command"
            elif kind == "redirect":
                redirected = token["close"] is None
            continue
        word, at = read_word(text, at, inner)
        if at == token.start():
            at += 1
            continue
        if re.fullmatch(r"\w+\+?=", word) and text[at:at + 1] == "(":
            at = closing(text, at, "(", ")")  # a list
        elif redirected:
            redirected = False
        elif pattern and word != "esac":
            pass
        elif word == "in" and expects == "in":
            pattern, expects = cases > 0, ""
        elif expects in ("command", "prefixed"):
            expects, pattern = after(word, expects, text[at:at + 1], certain, likely), False
            cases += {"case": 1, "esac": -1}.get(word, 0)
    for one in inner:
        parse(one, certain, likely)


def after(word, expects, following, certain, likely):
    """Notes the word where a command may stand, and says what comes next."""
    if re.match(r"\w+(\[[^]]*\])?\+?=", word) or word in KEYWORDS:
        return expects
    if word in ("for", "case", "select"):
        return "in" if word == "case" else ""
    if word in ("esac", "function") or following == "(":
        return ""
    if word.startswith("-"):
        return expects if expects == "prefixed" else ""
    name = word.strip("\"'").removeprefix("/usr/sbin/").removeprefix("/usr/bin/").removeprefix("/bin/")
    if re.fullmatch(r"[\w.+-]+|\[\[?|:", name):
        (certain if expects == "command" else likely).add(name)
    return "prefixed" if name in PREFIXES else ""


STARTS = re.compile(r"subprocess\.\w+|os\.(?:exec|spawn)\w+|run|output_of|shutil\.which|self\.run_here")


def python(text):
    """(certain, likely) of a Python program. Where it looks whether a program is there, it can do without."""
    certain, likely, guarded = set(), set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and node.args and STARTS.fullmatch(ast.unparse(node.func)):
            first = node.args[0]
            first = first.elts[0] if isinstance(first, (ast.List, ast.Tuple)) and first.elts else first
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                (guarded if "which" in ast.unparse(node.func) else certain).add(first.value.rpartition("/")[2])
        elif isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
            if isinstance(node.elts[0], ast.Constant) and isinstance(node.elts[0].value, str):
                likely.add(node.elts[0].value)
    return certain - guarded, likely - guarded


EXECUTED = re.compile(r"""\b(?:run_program\(\{|system\(|popen\(\s*\(?|execl[pe]?\()\s*"([\w./-]+)"""
                      r"""|"/(?:usr/)?s?bin/([\w-]+)\"""")
ASKED_FOR = re.compile(r'\bsystem\("([\w-]+) --version')


def cpp(text):
    """(certain, likely) of a C++ file."""
    found = {(m[1] or m[2]).rpartition("/")[2] for m in EXECUTED.finditer(text)}
    return found - BUILTINS - set(ASKED_FOR.findall(text)), set()


def page(text):
    """(certain, likely) of the shell blocks of a page."""
    return shell("\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)))
