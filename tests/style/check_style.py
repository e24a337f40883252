#!/usr/bin/env python3
"""Fails on what the compiler lets pass and this project does not. Run by ctest and by hand.

usage: check_style.py [ROOT]"""

import pathlib
import re
import subprocess
import sys

from class_sizes import classes, closing

SOURCE = {".h", ".hpp", ".c", ".cc"}
LINES_MAX = 400
MEMBERS_MAX, METHODS_MAX = 15, 40
# Each of these costs seconds to compile wherever it is included.
FILES_MAX = {"boost/beast": 4, "CLI/": 5}  # CLI11: the programs, core/usage, its test


def tracked(root: pathlib.Path):
    """Text files that git knows; everything but build results where there is no git."""
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
        paths = [root / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        skipped = {"build", ".git", ".hostler"}
        paths = [p for p in root.rglob("*") if p.relative_to(root).parts[0] not in skipped]
    for path in sorted(paths):
        if path.is_file():
            try:
                yield path.relative_to(root).as_posix(), path.read_text()
            except UnicodeDecodeError:
                pass  # a picture, a corpus of the fuzz targets


def blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def code_of(text: str) -> str:
    """Comments, strings and character literals blanked out; every offset stays what it was."""
    pattern = r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    # A digit before ' is a separator in a number, not a literal.
    return re.sub(r"(?<![0-9a-fA-F])" + f"(?:{pattern})", blank, text, flags=re.S)


def line_of(code: str, at: int) -> int:
    return code.count("\n", 0, at) + 1


# gcc 12.2 destroys temporaries of an awaited expression twice, and frees wrongly when co_await
# is one branch of a condition. Arguments of an awaited call are named variables.
TEMPORARY = re.compile(
    r"\{|(?:^|[,(])\s*\[[^\]]*\]\s*[({m]"
    r"|\bstd::(?:string|vector|function|optional|make_unique|make_shared|map|set|span)\b\s*[(<]"
)


def awaited_arguments(code: str, at: int) -> tuple:
    """Begin and end of what the call that the co_await at `at` waits for has in its brackets."""
    end = re.compile(r"co_await\s+[\w:.>\-<]*").match(code, at).end()
    return (end + 1, closing(code, end)) if code[end] == "(" else (end, end)


def statement_around(code: str, at: int) -> str:
    """The statement with the co_await at `at`, without the head of an `if (...)` before it."""
    begin = max(code.rfind(c, 0, at) for c in ";{}") + 1
    while head := re.compile(r"\s*(?:else\s+)?(?:if|while|for|switch)\s*(?:constexpr\s*)?\(").match(
        code, begin, at
    ):
        end = closing(code, head.end() - 1)
        if end > at:
            break
        begin = end + 1
    end = at
    while end < len(code) and code[end] not in ";{":
        end = closing(code, end) + 1 if code[end] in "([" else end + 1
    return code[begin:end]


def coroutines(name: str, text: str):
    code = code_of(text)
    for match in re.finditer(r"\bco_await\b", code):
        where = f"{name}:{line_of(code, match.start())}"
        begin, end = awaited_arguments(code, match.start())
        if TEMPORARY.search(code[begin:end]):
            yield f"{where}: a temporary as argument of an awaited call; name it and move it"
        without = code[:begin] + re.sub(r"[^\n]", " ", code[begin:end]) + code[end:]
        if operator := re.search(r"\?|(?<=\s)(?:&&|\|\|)", statement_around(without, match.start())):
            yield f"{where}: co_await together with '{operator[0]}'; make it a statement of its own"


LEAKY = {
    r"(?<![\w.>:])(?:::)?open(?:at)?\s*\((?=[^;]*\bO_)": "O_CLOEXEC",
    r"(?<![\w.>:])(?:::)?socket(?:pair)?\s*\((?=[^;]*\b[AP]F_)": "SOCK_CLOEXEC",
    r"(?<![\w.>:])::pipe2?\s*\(": "O_CLOEXEC",
    r"(?<![\w.>:])::accept4?\s*\(": "SOCK_CLOEXEC",
    r"(?<![\w.>:])(?:::)?mko?stemp\s*\(": "O_CLOEXEC",
    r"\bepoll_create1?\s*\(": "EPOLL_CLOEXEC",
    r"\bmemfd_create\s*\(": "MFD_CLOEXEC",
    r"\bstd::[io]?fstream\b|(?<![\w.>:])(?:std::|::)?fopen\s*\(|(?<![\w.>:])::dup\s*\(":
        "core/base/files.h or F_DUPFD_CLOEXEC",
}


def descriptors(name: str, text: str):
    """A descriptor without close-on-exec would live on in every program that the daemon starts."""
    if not name.startswith(("core/", "plugins/")):
        return
    code = code_of(text)
    for pattern, wanted in LEAKY.items():
        for match in re.finditer(pattern, code):
            line_begin = code.rfind("\n", 0, match.start()) + 1
            before = code[line_begin : match.start()]
            is_declaration = re.search(r"\w[\w>&*]*\s+$", before) and not re.search(
                r"\breturn\s+$", before
            )
            statement_end = code.find(";", match.start())
            statement = code[match.start() : statement_end]
            if re.search(r'fopen\(.*"[rwa]b?\+?e"', text[match.start() : statement_end], re.S):
                continue
            says_why = "// inherited:" in text[line_begin : text.find("\n", match.start())]
            if wanted not in statement and not is_declaration and not says_why:
                line = line_of(code, match.start())
                yield f"{name}:{line}: '{match[0].strip()}' without {wanted} (or '// inherited: why')"


# Somebody's machine. What is written here must hold anywhere.
MACHINE = re.compile(
    r"(?<![\w.}/])/(?:work|workspace|Users)/|(?<![\w.}/])/home/(?!(?:user|u|alice|bob)\b|[${<])\w"
    r"|\b(?:[\w-]+\.)*(?:artifactory|nexus|jfrog)[\w.-]*\.\w+/"
    r"|\b(?:index\.crates\.io|proxy\.golang\.org|registry\.npmjs\.org|pypi\.org/simple)\b"
)


def machines(name: str, text: str):
    if name.startswith("tests/style/"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if match := MACHINE.search(line):
            yield f"{name}:{number}: '{match[0]}' belongs to one machine"


USING = re.compile(r"^ *using (?:\w+::)+(\w+);", re.M)
CONSTANT = re.compile(r"^(?:static )?constexpr [^=;(){}]*?\b(k[A-Z]\w*)(?: =|\[|\{)", re.M)


def unused(name: str, text: str):
    """What a .cc names for itself alone and never uses. clang-tidy would see it in the file that it is
    given, which in a unity build is another."""
    if not name.endswith(".cc"):
        return
    code = code_of(text)
    for match in [*USING.finditer(code), *CONSTANT.finditer(code)]:
        if len(re.findall(rf"\b{match[1]}\b", code)) == 1:
            yield f"{name}:{line_of(code, match.start())}: {match[1]} is not used"


def constants(files: dict):
    """The .cc files of a target may be compiled as one: two constants of one name would be in it."""
    seen = {}
    for name, text in files.items():
        path = pathlib.PurePath(name)
        if path.suffix != ".cc" or path.parts[0] not in {"core", "plugins", "sdk"}:
            continue
        folder = next((one for one in path.parents if str(one / "CMakeLists.txt") in files), path.parent)
        for match in CONSTANT.finditer(code_of(text)):
            other = seen.setdefault((folder, match[1]), name)
            if other != name:
                yield f"{name}: {match[1]} is in {other} too; share it, or rename one"


CONFLICT = re.compile(r"^(?:<<<<<<<|>>>>>>>) ", re.M)


def conflicts(name: str, text: str):
    for match in CONFLICT.finditer(text):
        yield f"{name}:{line_of(text, match.start())}: a conflict of a merge, not resolved"


def lengths(files: dict, listed: set):
    for name, text in files.items():
        if name.startswith("sdk/include/"):
            continue  # the specification is one file, however long
        lines = text.count("\n")
        if pathlib.Path(name).suffix in SOURCE | {".py"} and lines > LINES_MAX and name not in listed:
            yield f"{name}: {lines} lines; look for its second role, or list it in long_files.txt"


LARGE_KINDS = {"table", "row", "options", "service"}


def large_classes(files: dict):
    """Only the classes of the list may be large, whatever their comments say, and only large ones are listed."""
    listed = {}
    for line in files.get("tests/style/large_classes.txt", "").splitlines():
        if line and line[0] != "#":
            name, title, kind = line.split()
            listed[name, title] = kind
    large = set()
    for name, text in files.items():
        if not name.startswith("core/") or pathlib.Path(name).suffix not in SOURCE:
            continue
        code = code_of(text)
        for at, title, members, methods in classes(code):
            for count, most, word in [(members, MEMBERS_MAX, "member"), (methods, METHODS_MAX, "method")]:
                if count > most:
                    large.add((name, title))
                    if (name, title) not in listed:
                        yield f"{name}:{line_of(text, at)}: {title} has {count} {word}s; look for its second role"
    for (name, title), kind in listed.items():
        if kind not in LARGE_KINDS:
            yield f"tests/style/large_classes.txt: {title}: '{kind}' is no reason for a large class"
        if (name, title) not in large:
            yield f"tests/style/large_classes.txt: {title} of {name} is not large"


def includes(files: dict):
    for prefix, files_max in FILES_MAX.items():
        users = [n for n, t in files.items() if re.search(rf'^#include [<"]{prefix}', t, re.M)]
        if len(users) > files_max:
            yield f"{prefix} is included by {len(users)} files, {files_max} may: {', '.join(users)}"


def readme(files: dict):
    """The commands that the README shows exist."""
    blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```", files.get("README.md", ""), re.M | re.S))
    script = files.get("hostler.sh", "")
    for verb in re.findall(r"\./hostler\.sh (\w+)", blocks):
        if not re.search(rf"^  {verb}\)", script, re.M):
            yield f"README.md: hostler.sh has no '{verb}'"
    cli = "\n".join(t for n, t in files.items() if n.startswith("core/cli/"))
    for verb in re.findall(r"^(?:\$ )?hostler (\w+)", blocks, re.M):
        if f'"{verb}"' not in cli:
            yield f"README.md: there is no 'hostler {verb}' in core/cli"


def problems(root: pathlib.Path):
    files = dict(tracked(root))
    listing = files.get("tests/style/long_files.txt", "")
    listed = {line.split()[0] for line in listing.splitlines() if line and line[0] != "#"}
    for name, text in files.items():
        yield from machines(name, text)
        yield from conflicts(name, text)
        if pathlib.Path(name).suffix in SOURCE:
            yield from coroutines(name, text)
            yield from descriptors(name, text)
            yield from unused(name, text)
    yield from lengths(files, listed)
    yield from large_classes(files)
    yield from includes(files)
    yield from constants(files)
    yield from readme(files)


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "style: ok")
    sys.exit(1 if found else 0)
