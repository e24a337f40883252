"""Counts the members and methods of C++ classes, for check_style.py. No parser of C++: it knows the forms that this
project's declarations have. Macros of core/base/mutex.h are skipped."""

import re

CLASS = re.compile(r"\b(?<!enum )(?:struct|class)\s+(?:[A-Z_]+\([^{};]*?\)\s+)?([A-Z]\w*)\b[^;{}()=]*\{")
ACCESS = re.compile(r"(?:\s*(?:public|protected|private)\s*:(?!:))*\s*")
OTHER = re.compile(r"(?:using|typedef|friend|static|static_assert|enum|template\s*<[^;{]*>\s*(?:struct|class))\b")


def closing(code: str, opening: int) -> int:
    """The offset of the bracket that closes the one at `opening`; the end of the text if none does."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return at
    return len(code)


def declarations(body: str):
    """The text of each declaration in the body of a class, functions with their bodies."""
    begin = at = 0
    while at < len(body):
        if body[at] in "([{":
            end = closing(body, at) + 1
            is_body = body[at] == "{" and "(" in body[begin:at] and body[end:].lstrip()[:1] not in (";", ",", "{")
            at = end
        else:
            is_body = False
            at += 1
        if is_body or body[at - 1] == ";":
            yield body[begin:at].rstrip(";")
            begin = at


def plain(declaration: str) -> str:
    """Without macros, attributes, template arguments, values and the insides of braces."""
    text = re.sub(r"HOSTLER_\w+\s*\([^()]*\)|\[\[.*?\]\]|->|<<|>=|<=>", " ", declaration)
    before = ""
    while before != text:
        before, text = text, re.sub(r"<[^<>]*>", " ", text)
    while "{" in text:
        opening = text.index("{")
        text = text[:opening] + text[closing(text, opening) + 1:]
    while "=" in text:
        end = begin = text.index("=")
        while end < len(text) and text[end] not in ",)":
            end = closing(text, end) + 1 if text[end] in "([" else end + 1
        text = text[:begin] + text[end:]
    return text


def sizes(body: str) -> tuple:
    """How many members and how many methods the class with this body has; static ones and friends do not count."""
    members = methods = 0
    for declaration in declarations(body):
        declaration = declaration[ACCESS.match(declaration).end():].strip()
        if not declaration or OTHER.match(declaration) or re.fullmatch(r"(?:struct|class|union)\s+\w+", declaration):
            continue
        if re.match(r"(?:struct|class|union)\b[^;(]*\{", declaration):  # nested: named members of it, if any
            names = declaration[declaration.rindex("}") + 1:]
            members += len(names.split(",")) if names.strip() else 0
        elif "(" in plain(declaration) or "operator" in declaration.split("{")[0]:
            methods += 1
        else:
            members += plain(declaration).count(",") + 1
    return members, methods


def classes(code: str):
    """Of each class: its offset, name, members and methods. `code`: the text without comments."""
    for match in CLASS.finditer(code):
        opening = match.end() - 1
        members, methods = sizes(code[opening + 1:closing(code, opening)])
        yield match.start(), match[1], members, methods
