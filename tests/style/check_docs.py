#!/usr/bin/env python3
"""Fails where the documents and the programs say different things: routes, events and reasons in
docs/api.md, commands and options in docs/cli.md, commands that a page calls missing, rules in
sdk/rules.md, and links in every page.

usage: check_docs.py ROOT [HOSTLER HOSTLERD PRINT_TABLES]     without programs less is checked"""

import json
import pathlib
import re
import subprocess
import sys

PAGES = ("*.md", "config/*.md", "docs/**/*.md", "plugins/**/*.md", "sdk/**/*.md", "tests/**/*.md")


def routes_of(openapi: dict):
    """Those of the API document, which a unit test compares with the program's: "POST /v1/jobs/*/cancel"."""
    for path, operations in openapi["paths"].items():
        for method in operations.keys() - {"parameters"}:
            yield f"{method.upper()} " + re.sub(r"\{\w+\}", "*", path)


def documented_routes(page: str):
    """First cells of tables, as `GET /v1/jobs/ID`: capitals stand for anything."""
    for method, path in re.findall(r"^\| `([A-Z]+) (/[^`]*)` \|", page, re.M):
        yield f"{method} " + re.sub(r"(?<=/)[A-Z0-9]+(?=/|$)", "*", path)


def differences(what: str, there: set, documented: set, page: str):
    for name in sorted(there - documented):
        yield f"{page}: {what} '{name}' is missing"
    for name in sorted(documented - there):
        yield f"{page}: there is no {what} '{name}'"


def help_of(program: str, words: list) -> str:
    ran = subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=30)
    if ran.returncode != 0 or not ran.stdout:
        raise SystemExit(f"{program} {' '.join(words)} --help: status {ran.returncode}")
    return ran.stdout


def indented(text: str, head: str) -> list:
    """The first words of the lines below a head, up to the next empty line."""
    found = re.search(rf"^{head}:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  (\S+)", found[1], re.M) if found else []


def commands_of(program: str, words=()):
    """{"driver list": {"--driver-path"}, ...}: every command that needs none below it."""
    text = help_of(program, list(words))
    below = indented(text, "Subcommands")
    found = {}
    if not below or re.search(r"^Usage: .*\[SUBCOMMAND\]$", text, re.M):
        found[" ".join(words)] = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M)) - {"--help"}
    for word in below:
        found.update(commands_of(program, (*words, word)))
    return found


def documented_commands(page: str):
    """**`submit`**, **`job ID`**, **`driver list`**: each with the text up to the next one."""
    parts = re.split(r"\*\*`([^`]+)`\*\*", page)
    for name, text in zip(parts[1::2], parts[2::2]):
        yield " ".join(word for word in name.split() if word.islower()), text


def check_commands(page: str, there: dict):
    documented = dict(documented_commands(page))
    yield from differences("command", set(there), set(documented), "docs/cli.md")
    for name in set(there) & set(documented):
        for option in sorted(there[name]):
            if f"`{option}" not in documented[name] and f"[{option}" not in documented[name]:
                yield f"docs/cli.md: {name} has an option {option}, which is missing"


MISSING = re.compile(r"\b(?:is|are) (?:missing|not there)|\b(?:does|do) not exist|\bnot there yet|\bthere (?:is|are) no\b", re.I)


def called_missing(page: str):
    """What stands in backquotes in a sentence about missing commands, and in the first cells of the tables below a
    heading as "What is not there yet"."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\|)", page):
        for sentence in re.split(r"(?<=[.:;]) ", " ".join(paragraph.split())):
            if re.search(r"\bcommands?\b", sentence, re.I) and MISSING.search(sentence):
                yield from re.findall(r"`([^`]+)`", sentence)
    for section in re.split(r"^(?=#+ )", page, flags=re.M):
        if MISSING.search(section.partition("\n")[0]):
            for cell in re.findall(r"^\| ([^|]*) \|", section, re.M):
                yield from re.findall(r"`([^`]+)`", cell)


def check_missing(name: str, page: str, commands: set):
    known = {" ".join(words[:n]) for words in map(str.split, commands) for n in range(1, len(words) + 1)}
    for said in dict.fromkeys(called_missing(page)):
        command = said.removeprefix("hostler ")
        if command in known:
            yield f"{name}: it says that the command {command} is missing, and hostler has it"


def rules_of(root: pathlib.Path) -> set:
    """What the plugin host says in its messages: "R28: ...", "... (R31)"."""
    texts = (path.read_text() for path in (root / "core/plugin_host").iterdir())
    said = (literal for text in texts for literal in re.findall(r'"[^"\n]*"', text))
    return {rule for literal in said for rule in re.findall(r"\bR\d+\b", literal)}


def table_problems(page: str, program: str):
    """The tables of events and reasons stand in docs/api.md as the program prints them."""
    printed = subprocess.run([program], capture_output=True, text=True, timeout=30, check=True).stdout
    for table in printed.strip().split("\n\n"):
        if table + "\n\n" in page:
            continue
        missing = [row for row in table.split("\n") if row not in page.split("\n")]
        yield f"docs/api.md: replace a table by the one that {program} prints: " + (
            f"{missing[0]} is missing" if missing else "it has other rows besides, or another order")


def anchors_of(text: str) -> set:
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def pages_of(root: pathlib.Path):
    pages = {page for pattern in PAGES for page in root.glob(pattern)}
    return sorted(p for p in pages if p.relative_to(root).parts[0] not in ("build", ".hostler"))


def check_links(root: pathlib.Path):
    for page in pages_of(root):
        name = page.relative_to(root)
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                yield f"{name}: the link {link} leads nowhere"
            elif anchor and anchor not in anchors_of(target.read_text()):
                yield f"{name}: {link}: there is no such heading"


def problems(root: pathlib.Path, hostler: str = "", hostlerd: str = "", print_tables: str = ""):
    routes = set(routes_of(json.loads((root / "core/api/openapi.json").read_text())))
    documented = set(documented_routes((root / "docs/api.md").read_text()))
    yield from differences("route", routes, documented, "docs/api.md")
    if print_tables:
        yield from table_problems((root / "docs/api.md").read_text(), print_tables)
    rules = set(re.findall(r"^\| (R\d+) \|", (root / "sdk/rules.md").read_text(), re.M))
    for rule in sorted(rules_of(root) - rules):
        yield f"sdk/rules.md: {rule}, which the plugin host names, is missing"
    cli = (root / "docs/cli.md").read_text()
    if hostler:
        commands = commands_of(hostler)
        yield from check_commands(cli, commands)
        for page in pages_of(root):
            yield from check_missing(page.relative_to(root), page.read_text(), set(commands))
    if hostlerd:
        for option in sorted(commands_of(hostlerd)[""]):
            if f"`{option}" not in cli:
                yield f"docs/cli.md: hostlerd has an option {option}, which is missing"
    yield from check_links(root)


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."), *sys.argv[2:5]))
    print("\n".join(found) or "docs: ok")
    sys.exit(1 if found else 0)
