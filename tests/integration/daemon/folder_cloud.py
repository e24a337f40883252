"""The cloud in a folder of the drivers `gallery` and `mortal` (drivers/folder_cloud.h)."""

import os


class FolderCloud:
    def __init__(self, site):
        self.folder = site.under("cloud")
        os.mkdir(self.folder)

    def put(self, name, text=""):
        """By a rename: the driver sees the whole file."""
        with open(os.path.join(self.folder, "fresh"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(os.path.join(self.folder, "fresh"), os.path.join(self.folder, name))

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def remove(self, name):
        os.unlink(os.path.join(self.folder, name))

    def calls(self, word=""):
        """Those that begin with the word, in their order."""
        try:
            return [line for line in self.read("calls").splitlines() if line.startswith(word)]
        except FileNotFoundError:
            return []
