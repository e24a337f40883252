#!/usr/bin/env python3
"""Sites that take signed or pinned drivers only: others close their sets, which say why; `hostler driver` says the
same beforehand."""

import json
import os
import subprocess

import drivers
from one_site import main
from scratch_site import PATIENCE, wait_for


class SignedTest(drivers.DriverTest):
    def put_drivers(self):
        for name in ("local", "other"):
            self.put_driver(name, self.local_library(), path=os.path.join(self.site.drivers, "local.hostler.so"))

    def sign(self, name, key):
        """Returns the public key, as it is printed for the configuration."""
        done = self.hostler("driver", "sign", os.path.join(self.folder, name + ".hostler.json"), "--key", key)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads("{" + done.stdout.splitlines()[-1] + "}")["driver_keys"]["NAME"]

    def digest_of_manifest(self, name):
        with open(os.path.join(self.folder, name + ".hostler.json"), "rb") as file:
            return drivers.sha256(file.read())

    def make_key(self, name):
        key = self.site.under(name)
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True,
                       capture_output=True, timeout=PATIENCE)
        os.chmod(key, 0o600)
        return key

    def write_sites(self, settings=None, **trust):
        """Two sets: `local`, with these settings of its driver, and `other` of a driver that is never taken here."""
        of = {name: {"root": self.site.under("of-" + name), "instances_max": 20} for name in ("local", "other")}
        of["local"].update(settings or {})
        self.write_config("other", driver_path=[self.folder], sets=[
            {"name": name, "driver": name, "sandbox": "none", "config": of[name]} for name in of],
                          pools=[{"name": "default", "sets": ["local"], "types": ["small"], "max": 3}], **trust)

    def explained(self, name):
        return self.hostler("driver", "explain", name, "--config", self.site.under("hostler.json"))

    def info(self, name):
        done = self.hostler("driver", "info", name, "--json", "--config", self.site.under("hostler.json"))
        return json.loads(done.stdout)

    def test_a_site_that_wants_signatures_takes_signed_drivers_only(self):
        self.put_drivers()
        public = self.sign("local", self.make_key("acme.pem"))
        self.write_sites(driver_trust="signed", driver_keys={"acme": public})
        self.site.start()
        self.assertIn("hostler driver sign other.hostler.json", self.closed())
        self.assertIn("local is used", self.explained("local").stdout)
        seen = self.info("local")
        self.assertEqual((seen["signed_by"], seen["pinned"], seen["manifest"]["name"]), ("acme", False, "local"))
        self.assertNotIn("problem", seen)

        self.assertNotEqual(self.sign("other", self.make_key("unknown.pem")), public)
        self.reload()
        wait_for("the key is not known",
                 lambda: "no key of driver_keys (acme) has made this signature" in self.set("other").get("problem", ""))
        explained = self.explained("other")
        self.assertEqual(explained.returncode, 1)
        for part in ("driver_trust: signed", "local.hostler.json", "signed by acme", "driver_path",
                     "other.hostler.json.sig", "other cannot be used"):
            self.assertIn(part, explained.stdout)

    def test_the_supervisor_that_was_signed_is_the_one_that_runs(self):
        self.put_driver("local", self.local_library())
        supervisor = os.path.join(self.folder, "hostler-local-supervisor")
        public = self.sign("local", self.make_key("acme.pem"))
        self.write_sites(driver_trust="signed", driver_keys={"acme": public})
        self.site.start()
        wait_for("the set is open", lambda: self.set("local")["open"])
        os.unlink(supervisor)
        mark = self.site.under("another-supervisor-has-run")
        with open(supervisor, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
        os.chmod(supervisor, 0o777)
        ended = self.site.wait_for_end(self.site.submit({"script": "true", "needs": drivers.NEEDS})[0])
        self.assertEqual(ended["state"], "succeeded")
        self.assertFalse(os.path.exists(mark))

        self.site.stop()
        self.site.start()
        problem = wait_for("the set is closed", lambda: self.set("local").get("problem"))
        self.assertIn(supervisor, problem)
        self.assertFalse(os.path.exists(mark))

    def test_a_site_that_wants_signatures_lets_local_start_no_other_program(self):
        self.put_drivers()
        public = self.sign("local", self.make_key("acme.pem"))
        self.write_sites({"supervisor": "/bin/true"}, driver_trust="signed", driver_keys={"acme": public})
        self.site.start()
        self.assertIn("config.supervisor", wait_for("the set says why", lambda: self.set("local").get("problem")))

    def test_a_site_that_pins_takes_drivers_with_a_digest_only(self):
        self.put_drivers()
        self.write_sites(driver_trust="pinned", driver_sha256={"local": self.digest_of_manifest("local")})
        self.site.start()
        self.assertIn("driver_sha256 has no digest for driver 'other'", self.closed())
        self.assertTrue(self.info("local")["pinned"])
        self.assertEqual(self.explained("other").returncode, 1)


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
