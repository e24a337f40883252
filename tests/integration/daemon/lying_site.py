"""A site whose cloud lies: the driver `liar`, whose hosts are those of the local driver."""

import os

from scratch_site import Site

SET = "cloud"


class Cloud:
    """What tests say to the driver, and what it was asked. liar/README.md lists the lies."""

    def __init__(self, site):
        self.site = site
        self.folder = site.under("cloud")
        os.mkdir(self.folder)

    def under(self, name):
        return os.path.join(self.folder, name)

    def lies(self, *lines):
        """Instead of the lies before; in force from the next call of the driver on."""
        with open(self.under("new"), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        os.rename(self.under("new"), self.under("lies"))

    def honest(self):
        self.lies()

    def calls(self, *functions):
        """The calls so far, each a list of words; all, or those of these functions."""
        try:
            with open(self.under("calls"), encoding="utf-8") as file:
                lines = [line.split() for line in file]
        except FileNotFoundError:
            return []
        return [words for words in lines if not functions or words[0] in functions]

    def config(self, **local):
        """The driver's; `local` goes to the local driver."""
        return {"driver": os.path.join(self.site.drivers, "local.hostler.so"), "folder": self.folder,
                "config": {"root": self.site.under("instances"), "instances_max": 20, **local}}

    def machines(self):
        """The ids of the instances that really exist."""
        root = self.site.under("instances/instances")
        return sorted(os.listdir(root)) if os.path.isdir(root) else []


class LyingSite(Site):
    """One set, `cloud`, and one pool, `default`, with one type, `small`."""

    def __init__(self, hostlerd, drivers, liar):
        self.liar = os.path.abspath(liar)
        self.cloud = None
        super().__init__(hostlerd, drivers)

    def write_config(self, name="hostler.json", local=None, pool=None, **changes):
        """`local`: members of the local driver's config; `pool`: members of the pool."""
        if self.cloud is None:
            self.cloud = Cloud(self)
        return super().write_config(name, **{
            "driver_path": [self.liar],
            "types": [{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
            "sets": [{"name": SET, "driver": "liar", "list_interval": "1s",
                      "config": self.cloud.config(**(local or {}))}],
            "pools": [{"name": "default", "sets": [SET], "types": ["small"], "max": 4,
                       "idle_timeout": "10m", "boot_timeout": "1m", "shutdown_timeout": "1s",
                       **(pool or {})}],
            **changes})
