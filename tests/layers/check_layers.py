#!/usr/bin/env python3
"""Fails if a file of core/, plugins/ or sdk/check includes what its layer may not see. Run by ctest and by hand."""

import pathlib
import re
import sys

# Lowest first. A directory may include itself and what is listed; nothing else of core/.
VALUES = ["base", "model"]
MAY_INCLUDE = {
    "base": [],
    "log": ["base"],
    "crypto": ["base"],
    "async": [],
    "elf": ["base"],
    "model": ["base"],
    "expression": ["base"],
    "pricing": VALUES,
    "fleet": VALUES,
    "work": VALUES,
    "demand": VALUES + ["pricing"],
    "gates": VALUES,
    "pushed": VALUES,
    "scheduler": VALUES + ["pricing", "demand", "gates"],
    "dispatch": VALUES + ["expression", "pushed", "pricing", "fleet", "work", "demand", "gates", "scheduler"],
    "json": VALUES,
    "usage": ["base"],
    "store": VALUES + ["log", "crypto", "json"],
    "plugin_host": VALUES + ["log", "crypto", "elf", "json"],
    "driver_host": VALUES + ["log", "plugin_host"],
    "tap": VALUES + ["log", "crypto", "json", "plugin_host"],
    "ssh": VALUES + ["log", "crypto"],
    "agent": VALUES + ["log"],
    "cards": VALUES + ["json", "agent"],
    "hosts": VALUES + ["log", "async", "ssh", "agent", "cards"],
    "metrics": VALUES + ["log"],
    "sources": VALUES + ["log", "json"],
    "config": VALUES + ["crypto", "json", "expression", "sources"],
    "planning": VALUES + ["pushed", "demand", "gates", "scheduler", "json", "config"],
    "simulation": VALUES + ["expression", "pushed", "demand", "gates", "scheduler", "dispatch", "json", "tap", "config",
                            "sources"],
    "api": VALUES + ["pushed", "log", "crypto", "async", "json"],
    "daemon": ["*"],
    "cli": VALUES + ["crypto", "json", "usage", "expression", "sources", "scheduler", "config", "planning",
            "plugin_host", "driver_host", "tap", "simulation", "api"],
}
# The conformance kit is a host: it loads and calls drivers as hostlerd does, and by the same code.
KIT_MAY_INCLUDE = VALUES + ["log", "crypto", "elf", "json", "plugin_host", "driver_host", "tap", "config", "ssh"]
# The same within a layer, lowest first: a folder sees itself and those before it.
INNER = {
    "core/agent/host": ["system", "journal", "attempt", "server"],
    "core/driver_host": ["wire", "child", "parent"],
    "core/dispatch": ["state", "handlers", "queries"],
    "sdk/check": ["proxy", "faults", "run", "host", "groups", "process", "report"],
}
# Decisions: time, chance and the outside world come in as arguments.
PURE = {"model", "expression", "pushed", "pricing", "fleet", "work", "demand", "gates", "scheduler", "dispatch", "planning", "cards"}
NOT_IN_PURE = re.compile(
    r"::now\(\)|\bsleep_(for|until)\b|<(thread|mutex|future|random|iostream|fstream)>|base/mutex\.h"
    r"|\bgetenv\b|spdlog"
)
# The configuration is one source of a pool's bounds: plans, and all that shows bounds, go by the numbers of core/scheduler/bounds.h.
SIZES_OF_POOL = re.compile(r"(\.|->)sizes\b|\bPoolSizes\b")
MAY_READ_SIZES = {"config", "planning"}
MAKES_BOUNDS_OF_SIZES = {"core/model/policy.h", "core/scheduler/bounds_of_config.cc", "core/dispatch/state/expressions.cc"}
# One home per dependency, so that replacing one is a change to one directory.
HOME = {
    "boost/dll": {"plugin_host"},
    "boost/asio": {"async", "ssh", "hosts", "api", "cli"},
    "boost/beast": {"api", "cli"},
    "libssh2": {"ssh"},
    "prometheus/": {"metrics"},
    "rapidjson/": {"json"},
    "valijson/": {"json"},
    "spdlog/": {"log"},
    "libpq": {"store"},
    "sqlite3": {"store"},
    "openssl/": {"crypto"},
    "CLI/": {"cli", "daemon", "usage"},
    "zlib": {"ssh", "sources"},
    "curl/": {"cli", "sources"},
    "date/": {"sources"},
    "hostler/driver": {"plugin_host", "driver_host"},
    # What clang's analysis can check is core/base/mutex.h.
    "mutex": {"base"},
    "shared_mutex": {"base"},
    "condition_variable": {"base"},
}
# The same for drivers: plugins/http is the part that several of them share.
HOME_OF_DRIVERS = {
    "curl/": {"http"},
    "pugixml": {"ec2"},
    "openssl/": {"http", "ec2"},
}
# The same for folders of the kit.
HOME_OF_KIT = {
    "pugixml": {"report"},
}


def problems(root: pathlib.Path):
    for path in sorted(root.glob("core/**/*.[hc]*")):
        layer = path.relative_to(root).parts[1]
        allowed = MAY_INCLUDE.get(layer)
        if allowed is None:
            yield f"{path}: '{layer}' is not in MAY_INCLUDE; say where it belongs"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path}:{number}"
            if match := re.match(r'#include "core/(\w+)/', line):
                other = match[1]
                if other != layer and other not in allowed and "*" not in allowed:
                    yield f"{where}: {layer} may not include {other}"
            if match := re.match(r"#include [<\"]([^>\"]+)", line):
                for prefix, homes in HOME.items():
                    if match[1].startswith(prefix) and layer not in homes:
                        yield f"{where}: {prefix} lives in {', '.join(sorted(homes))}"
            code = line.split("//")[0]
            if (SIZES_OF_POOL.search(code) and layer not in MAY_READ_SIZES
                    and str(path.relative_to(root)) not in MAKES_BOUNDS_OF_SIZES):
                yield f"{where}: only bounds_of_config() reads a pool's sizes; take numbers_of()"
            if layer in PURE and (match := NOT_IN_PURE.search(code)):
                yield f"{where}: '{match[0]}' in a pure layer; make it an argument"
    for layer, folders in INNER.items():
        for path in sorted(root.glob(f"{layer}/*/**/*.[hc]*")):
            own = path.relative_to(root / layer).parts[0]
            seen = folders[: folders.index(own) + 1] if own in folders else []
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(rf'#include "{layer}/(\w+)/', line)
                if match and match[1] not in seen:
                    yield f"{path}:{number}: {own} may not include {match[1]}"
    for path in sorted(root.glob("sdk/check/**/*.[hc]*")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if (match := re.match(r'#include "core/(\w+)/', line)) and match[1] not in KIT_MAY_INCLUDE:
                yield f"{path}:{number}: the kit may not include {match[1]}"
            if match := re.match(r"#include [<\"]([^>\"]+)", line):
                for prefix, homes in HOME.items():
                    if match[1].startswith(prefix) and prefix != "hostler/driver":
                        yield f"{path}:{number}: {prefix} lives in {', '.join(sorted(homes))}"
                for prefix, homes in HOME_OF_KIT.items():
                    if match[1].startswith(prefix) and path.parent.name not in homes:
                        yield f"{path}:{number}: {prefix} lives in {', '.join(sorted(homes))}"
    drivers = {path.name for path in root.glob("plugins/*") if path.is_dir()}
    for path in sorted(root.glob("plugins/**/*.[hc]*")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where, folder = f"{path}:{number}", path.relative_to(root).parts[1]
            if re.match(r'#include "core/', line):
                yield f"{where}: a driver sees sdk/ only"
            if (match := re.match(r'#include "(\w+)/', line)) and match[1] in drivers - {folder, "http"}:
                yield f"{where}: a driver sees no other driver"
            if match := re.match(r"#include [<\"]([^>\"]+)", line):
                for prefix, homes in HOME_OF_DRIVERS.items():
                    if match[1].startswith(prefix) and folder not in homes:
                        yield f"{where}: {prefix} lives in {', '.join(sorted(homes))}"


if __name__ == "__main__":
    found = list(problems(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "layers: ok")
    sys.exit(1 if found else 0)
