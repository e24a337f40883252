#!/usr/bin/env python3
"""Drivers that cannot be loaded, or that others could have put there: each closes its own sets, and says why;
the daemon serves the rest. And files of the configuration that others could change."""

import ctypes
import hashlib
import json
import os
import shutil
import signal
import subprocess
import unittest

from one_site import ARGS, main
from scratch_site import PATIENCE, Site, trusted, wait_for

NOBODY = 65534
NEEDS = {"vcpus": 1, "ram": "256MiB"}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Site(ARGS.hostlerd, ARGS.drivers))
        self.folder = self.site.under("drivers")
        os.mkdir(self.folder, 0o755)

    def local_library(self):
        with open(os.path.join(ARGS.drivers, "local.hostler.so"), "rb") as file:
            return file.read()

    def put_driver(self, name, library=None, mode=0o755, path=None, digest=None, **changes):
        """A manifest of a driver with this library; `path`: where the library is."""
        with open(os.path.join(ARGS.drivers, "local.hostler.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        manifest["name"] = name
        manifest["library"]["path"] = path or name + ".hostler.so"
        if library is not None:
            manifest["library"]["sha256"] = digest or sha256(library)
            if path is None:
                file = os.path.join(self.folder, name + ".hostler.so")
                with open(file, "wb") as out:
                    out.write(library)
                os.chmod(file, mode)
                for own in manifest.get("files", []):
                    shutil.copy(os.path.join(ARGS.drivers, own["name"]), self.folder)
        manifest.update(changes)
        with open(os.path.join(self.folder, name + ".hostler.json"), "w", encoding="utf-8") as file:
            json.dump(manifest, file)

    def write_config(self, driver, **changes):
        """Two sets: `local`, which a pool uses, and `other` of this driver, which is the local one at best."""
        self.site.write_config(**{
            "driver_path": [self.site.drivers, self.folder],
            "sets": [{"name": "local", "driver": "local", "list_interval": "1s",
                      "config": {"root": self.site.under("instances"), "instances_max": 20}},
                     {"name": "other", "driver": driver, "sandbox": "none",
                      "config": {"root": self.site.under("others"), "instances_max": 20}}],
            **changes})

    def set(self, name):
        return next(one for one in self.site.get("/v1/sets")["sets"] if one["name"] == name)

    def set_problem(self, name):
        return wait_for("the set says why it is closed", lambda: self.set(name).get("problem"))

    def closed(self):
        """Why the set `other` is closed. The daemon says it wherever it is asked, and works."""
        def why():
            return self.set("other").get("problem")
        problem = wait_for("the set says why it is closed", why)
        self.assertFalse(self.set("other")["open"])
        health = self.site.get("/health")
        self.assertTrue(health["ok"])
        self.assertIn("set other: " + problem, health["problems"])
        wait_for("the other set is open", lambda: self.set("local")["open"])
        return problem

    def log(self):
        with open(self.site.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def maps(self):
        """The files that the daemon has loaded."""
        with open(f"/proc/{self.site.daemon.pid}/maps", encoding="utf-8") as file:
            return file.read()

    def hostler(self, *words):
        return subprocess.run([ARGS.hostler, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)

    def refused(self, name, library=None, **how):
        """What the daemon says of the set of such a driver. Who asks beforehand is told the same."""
        self.put_driver(name, library, **how)
        self.write_config(name)
        said = self.hostler("config", "check", self.site.under("hostler.json"))
        self.assertIn("hostlerd would close this set here", said.stdout)
        self.assertIn("cannot be used",
                      self.hostler("driver", "list", "--driver-path", self.folder).stdout)
        self.site.start()
        problem = self.closed()
        self.assertIn(f"driver '{name}' cannot be loaded", problem)
        self.assertIn(f"driver {name}, set other: ", self.log())
        return problem

    def reload(self):
        self.site.daemon.send_signal(signal.SIGHUP)


class SandboxTest(DriverTest):
    def test_one_that_asks_for_less_than_the_full_sandbox_gets_it_from_the_configuration_alone(self):
        self.put_driver("copy", self.local_library())
        self.write_config("copy", sets=[
            {"name": "local", "driver": "local", "list_interval": "1s",
             "config": {"root": self.site.under("instances"), "instances_max": 20}},
            {"name": "other", "driver": "copy", "config": {"root": self.site.under("others")}}])
        asks = 'it asks for the sandbox "none": write "sandbox": "none" into the set'
        self.assertIn(asks, self.hostler("config", "check", self.site.under("hostler.json")).stdout)
        self.site.start()
        self.assertIn(asks, self.closed())

    def test_what_is_in_force_is_said(self):
        self.write_config("fake_chaos", driver_path=[self.site.drivers, trusted(os.path.join(ARGS.fakes, "fake_chaos"))],
                          sets=[{"name": "local", "driver": "local", "list_interval": "1s",
                                 "config": {"root": self.site.under("instances"), "instances_max": 20}},
                                {"name": "other", "driver": "fake_chaos"}])
        self.site.start()
        wait_for("the sets are open", lambda: self.set("local")["open"] and self.set("other")["open"])
        has_landlock = ctypes.CDLL(None).syscall(444, None, 0, 1) > 0
        self.assertEqual([self.set(name)["driver"]["sandbox"] for name in ("local", "other")],
                         ["none", "full" if has_landlock else "none"])

    def test_a_site_that_requires_more_than_a_driver_has_closes_its_set(self):
        self.write_config("local", sandbox_min="full", sets=[
            {"name": "local", "driver": "local", "list_interval": "1s",
             "config": {"root": self.site.under("instances"), "instances_max": 20}}])
        self.site.start()
        problem = wait_for("the set says why it is closed", lambda: self.set("local").get("problem"))
        self.assertIn('its sandbox is "none", but sandbox_min is "full"', problem)


class BadDriverTest(DriverTest):
    def test_one_that_is_nowhere_is_named_with_where_it_was_looked_for(self):
        self.write_config("fake_chaos")
        self.site.start()
        problem = self.closed()
        self.assertIn("fake_chaos", problem)
        self.assertIn(self.folder, problem)
        job = self.site.submit({"script": "echo well", "needs": NEEDS})[0]
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        # Once it is installed, a reload loads it.
        shutil.copytree(trusted(os.path.join(ARGS.fakes, "fake_chaos")), self.folder, dirs_exist_ok=True)
        self.reload()
        wait_for("the set is open", lambda: self.set("other")["open"])

    def test_a_manifest_without_its_library(self):
        self.assertIn("gone.hostler.so", self.refused("gone"))

    def test_what_is_no_elf_file(self):
        said = self.refused("words", b"these are words, no library\n" * 100)
        self.assertIn("words.hostler.so", said)
        self.assertIn("ELF", said)

    def test_another_content_than_the_manifests(self):
        said = self.refused("copy", self.local_library(), digest="0" * 64)
        self.assertIn("copy.hostler.so", said)
        self.assertIn("sha256", said)

    def test_another_abi_draft(self):
        said = self.refused("copy", self.local_library(),
                            abi={"major": 1, "draft": 999, "min_host_minor": 0})
        self.assertIn("draft", said)
        self.assertIn("999", said)

    def test_one_that_throws_when_it_is_loaded(self):
        """Bug: an exception of another type than std::exception ended the daemon."""
        for function, name in (("hostler_driver_entry_1", "fake_throw_in_entry"),
                               ("get_extension", "fake_throw_in_get_extension")):
            with open(os.path.join(ARGS.fakes, name, name + ".hostler.so"), "rb") as file:
                library = file.read()
            self.put_driver(name, library)
            self.write_config(name)
            self.site.start()
            self.assertIn("R45: an exception left " + function, self.closed())
            self.site.stop()

    def test_one_that_throws_when_its_set_is_closed(self):
        """Bug: it ended the daemon."""
        self.site.write_config(driver_path=[trusted(os.path.join(ARGS.fakes, "fake_chaos"))],
                               sets=[{"name": "close", "driver": "fake_chaos",
                                      "config": {"do": "throw_in_set_close"}}],
                               pools=[{"name": "default", "sets": ["close"], "types": ["small"], "max": 1}])
        self.site.start()
        wait_for("the set is open", lambda: self.set("close")["open"])
        self.site.stop()
        self.assertEqual(self.log().count("R45: an exception left set_close"), 1)

    def test_unknown_keys_of_a_manifest_are_logged(self):
        self.put_driver("copy", self.local_library(), signature="ff")
        self.write_config("copy")
        self.site.start()
        self.closed()  # its library is another driver's
        self.assertIn("copy.hostler.json: ignored the unknown key signature", self.log())


class UntrustedDriverTest(DriverTest):
    def test_a_blob_is_never_loaded_whoever_points_at_it(self):
        """Bug: a submitter uploaded a library, somebody who could write to the driver folder pointed a manifest
        at the file in which the daemon keeps it, and the daemon loaded it as root."""
        library = self.local_library() + b"not the one that is loaded already"
        digest = sha256(library)
        self.site.start()
        status, answer = self.site.request("PUT", "/v1/blobs/" + digest, library)
        self.assertLess(status, 300, answer)
        self.site.stop()
        blob = next(os.path.join(at, name) for at, _, names in os.walk(self.site.under("state"))
                    for name in names if os.path.getsize(os.path.join(at, name)) == len(library))
        self.put_driver("copy", library, path=blob)
        self.write_config("copy")
        os.chmod(self.folder, 0o777)
        self.site.start()
        self.assertIn(self.folder + " is writable by everybody", self.closed())
        self.assertNotIn(blob, self.maps())
        self.site.stop()
        os.chmod(self.folder, 0o755)  # it was root who wrote the manifest
        self.site.start()
        self.assertIn(f"{blob} lies beneath the state folder", self.closed())
        self.assertNotIn(blob, self.maps())

    def test_a_library_that_others_may_write_to(self):
        said = self.refused("copy", self.local_library(), mode=0o777)
        self.assertIn("copy.hostler.so", said)
        self.assertIn("writable by everybody", said)

    def test_a_folder_that_others_may_write_to(self):
        os.chmod(self.folder, 0o777)
        self.put_driver("copy", self.local_library())
        self.write_config("copy")
        self.site.start()
        self.assertIn(self.folder + " is writable by everybody", self.closed())

    def test_root_loads_nothing_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to give a folder away")
        self.put_driver("copy", self.local_library())
        os.chown(self.folder, NOBODY, NOBODY)
        self.write_config("copy")
        self.site.start()
        self.assertIn(f"{self.folder} belongs to uid {NOBODY}, and not to root", self.closed())

    def test_the_configuration_names_the_only_library(self):
        self.write_config("local", driver_sha256={"local": "a" * 64})
        self.site.start()
        problem = self.set_problem("local")
        self.assertIn("a" * 64, problem)
        with open(os.path.join(ARGS.drivers, "local.hostler.json"), "rb") as file:
            right = sha256(file.read())
        self.assertIn(right, problem)
        self.site.stop()
        self.write_config("local", driver_sha256={"local": right})
        self.site.start()
        wait_for("the set is open", lambda: self.set("local")["open"])



class ConfigFileTest(DriverTest):
    def start_is_refused(self):
        daemon = self.site.spawn()
        self.assertEqual(daemon.wait(PATIENCE), 2)
        return self.log()

    def test_one_that_others_may_write_to_is_refused(self):
        config = self.site.under("hostler.json")
        os.chmod(config, 0o666)
        self.assertIn(config + " is writable by everybody", self.start_is_refused())
        checked = self.hostler("config", "check", config)
        self.assertEqual(checked.returncode, 0)
        self.assertIn("hostlerd would not start with this file here: " + config, checked.stdout)
        os.chmod(config, 0o644)
        self.site.start()
        # Others may have written it since.
        os.chmod(config, 0o646)
        self.reload()
        wait_for("the reload is refused", lambda: "the configuration is unchanged" in self.log())

    def test_a_file_that_it_names_is_refused_in_a_folder_that_others_may_write_to(self):
        keys = self.site.under("keys")
        os.mkdir(keys)
        os.chmod(keys, 0o777)
        with open(os.path.join(keys, "tokens"), "w", encoding="utf-8") as file:
            json.dump({"tokens": []}, file)
        os.chmod(file.name, 0o600)
        self.site.write_config(access={"socket": {"path": self.site.socket},
                                       "tcp": {"port": 1, "tokens_file": file.name}})
        self.assertIn(f"{keys} is writable by everybody", self.start_is_refused())

    def reload_refused(self):
        """Why the last reload was refused; None if it was not."""
        told = [one for one in self.site.get("/health")["problems"] if one.startswith("configuration: ")]
        problems = self.site.get("/v1/why?subject=site").get("conditions", [])
        self.assertEqual(told, ["configuration: " + one for one in problems])
        self.assertIn(f"hostler_config_reload_refused {len(problems)}\n", self.site.text("/metrics"))
        why = self.hostler("--url", "unix://" + self.site.socket, "why", "site").stdout
        self.assertEqual([line for line in why.splitlines() if line.startswith("site: ")],
                         ["site: " + one for one in problems])
        return problems[0] if problems else None

    def test_a_refused_reload_stays_visible_until_one_succeeds(self):
        """Bug: only the log said it, once."""
        self.site.start()
        self.assertIsNone(self.reload_refused())
        with open(self.site.under("hostler.json"), "a", encoding="utf-8") as file:
            file.write("}")
        self.reload()
        wait_for("the reload is refused", lambda: self.site.get("/health")["problems"])
        self.assertIn("and the configuration from before is in use", self.reload_refused())
        self.site.write_config(agent={"kill_grace": "11s"})
        self.reload()
        # What is asked in several requests is asked when nothing changes any more.
        wait_for("another reason", lambda: "need a restart" in str(self.site.get("/health")["problems"]))
        self.assertIn("need a restart", self.reload_refused())
        self.assertTrue(self.site.get("/health")["ok"])
        self.site.write_config()
        self.reload()
        wait_for("the reload has succeeded", lambda: not self.site.get("/health")["problems"])
        self.assertIsNone(self.reload_refused())

    def test_the_config_of_a_set_is_held_against_the_schema_of_its_driver(self):
        self.site.start()
        self.site.write_config(sets=[{"name": "local", "driver": "local", "config": {
            "root": "relative", "colour": "red"}}])
        checked = self.hostler("config", "check", self.site.under("hostler.json"))
        self.assertEqual(checked.returncode, 1)
        self.assertIn("error: sets[0].config: driver 'local': root: ", checked.stderr)
        self.assertIn("'colour'", checked.stderr)
        self.assertIn("2 errors", checked.stderr)
        self.reload()
        wait_for("the reload is refused", lambda: self.site.get("/health")["problems"])
        self.assertIn("sets[0].config: driver 'local': ", self.reload_refused())

    def test_a_schema_that_refers_to_itself_is_no_schema(self):
        """Bug of the libraries that validate: they crash."""
        self.put_driver("copy", self.local_library(), config_schema={"$ref": "#"})
        self.write_config("copy")
        checked = self.hostler("config", "check", self.site.under("hostler.json"))
        self.assertEqual(checked.returncode, 0)
        self.assertIn("refers to itself", checked.stdout)

    def test_warns_of_a_minimum_above_a_ceiling_and_of_types_in_use_that_are_dropped(self):
        pool = {"name": "default", "sets": ["local"], "max": 6, "min": 1, "idle_timeout": "1h"}
        self.site.write_config(pools=[dict(pool, types=["large"])])
        self.site.start()
        wait_for("an instance", self.site.instances)
        self.site.write_config(
            types=[{"name": "small", "vcpus": 2, "ram": "2GiB", "price": 0.02}],
            pools=[dict(pool, types=["small"], min=3, ceilings={"instances_max": 2})])
        warning = 'pools: "default" has min 3, which is above its ceilings.instances_max 2'
        self.assertIn(warning, self.hostler("config", "check", self.site.under("hostler.json")).stdout)
        self.reload()
        wait_for("warnings in the log", lambda: warning in self.log() and
                 'type "large" is not in the new configuration, and 1 instances are of it' in self.log())
        self.site.write_config(pools=[dict(pool, types=["large"], min=0, idle_timeout="1s",
                                           shutdown_timeout="1s")])
        self.reload()
        self.site.take_down()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True, "type": os.path.abspath},
         fakes={"required": True, "type": os.path.abspath})
