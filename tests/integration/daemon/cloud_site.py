"""What the sites on real clouds share: LXD, and EC2 as ec2_lab.py has it."""

import os
import signal

import one_site
from scratch_site import Site, driver_processes, wait_for


class CloudSite(Site):
    """A site that one_site.main() has given its programs. Its set is the first one."""

    def __init__(self):
        super().__init__(one_site.ARGS.hostlerd, one_site.ARGS.drivers)

    def hostler(self, *words):
        """What a command prints that ends well."""
        return one_site.hostler(*words, url="unix://" + self.socket)

    def output_so_far(self, job):
        return self.get(f"/v1/jobs/{job}/output?stream=stdout&max=65536").get("text", "")

    def reload(self):
        self.daemon.send_signal(signal.SIGHUP)

    def kill_driver(self):
        for pid in driver_processes(self.daemon.pid):
            os.kill(pid, signal.SIGKILL)

    def gate(self):
        """The first one that is shut."""
        return wait_for("a gate is shut", lambda: self.get("/v1/gates")["gates"])[0]

    def problem_of(self, cloud):
        """Why a set of this description does not open."""
        self.write_config(sets=[cloud])
        self.start()
        try:
            return wait_for("the set says why it is closed", lambda: self.get("/v1/sets")["sets"][0].get("problem"))
        finally:
            self.stop()
