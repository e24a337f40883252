"""What the benchmarks against a real daemon share: a scratch site with a fleet of local hosts, and
its cheap counters."""

import json
import os
import re
import signal
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration", "daemon"))

from scratch_site import Connection, Site, check, wait_for  # noqa: E402


class BenchSite(Site):
    """Hosts of one type with `slots` vcpus, for jobs of one vcpu each."""

    holds_contract = False  # takes longer than the daemon's answers

    def __init__(self, build, slots=8, hosts_max=100, hosts_min=0, idle_timeout="1h", **settings):
        self.slots, self.hosts_max = slots, hosts_max
        self.hosts_min, self.idle_timeout = hosts_min, idle_timeout
        self.settings = settings  # of the site, instead of those below
        super().__init__(os.path.join(build, "bin", "hostlerd"),
                         os.path.join(build, "lib", "hostler", "drivers"))

    def write_config(self, name="hostler.json", **changes):
        return super().write_config(name, **{
            "types": [{"name": "host", "vcpus": self.slots, "ram": "64GiB", "price": 0.01}],
            "sets": [{"name": "local", "driver": "local", "list_interval": "1s",
                      "config": {"root": self.under("instances"),
                                 "instances_max": max(200, self.hosts_max)}}],
            "pools": [{"name": "default", "sets": ["local"], "types": ["host"],
                       "min": self.hosts_min, "max": self.hosts_max,
                       "idle_timeout": self.idle_timeout, "boot_timeout": "5m",
                       "shutdown_timeout": "1s"}],
            "log": {"level": "warn"}, **self.settings, **changes})

    def wait_for_hosts(self, count):
        """Until so many are ready and idle."""
        def ready():
            return sum(one["state"] == "idle" for one in self.instances()) == count
        wait_for(f"{count} hosts are idle", ready, 600)

    def dismiss_hosts(self):
        """Sends the fleet away and waits until it is gone."""
        self.hosts_min, self.idle_timeout = 0, "100ms"
        self.write_config()
        self.daemon.send_signal(signal.SIGHUP)
        wait_for("the fleet goes back to zero", lambda: not self.instances(), 300)

    def job_counts(self):
        """Live jobs by state: one look at the daemon's counters, whatever the queue's length."""
        connection = Connection(self.socket)
        try:
            connection.request("GET", "/metrics")
            text = connection.getresponse().read().decode()
        finally:
            connection.close()
        return {state: int(float(count))
                for state, count in re.findall(r'^hostler_jobs\{state="(\w+)"\} (\S+)$', text, re.M)}

    def live_jobs(self):
        counts = self.job_counts()
        return sum(counts.get(state, 0) for state in ("queued", "starting", "running", "collecting"))

    def wait_for_jobs(self, patience=600):
        """Until all have ended, and durably so."""
        wait_for("all jobs end", lambda: self.live_jobs() == 0, patience)
        live = "/v1/jobs?limit=1&state=queued,starting,running,collecting"
        wait_for("their ends are durable", lambda: not self.get(live)["jobs"])

    def submit_all(self, jobs, batch):
        """In as few transactions as `batch` allows. Their first and last number, and the seconds from
        the first request to the last answer."""
        bodies = [json.dumps({"jobs": jobs[at:at + batch]}).encode()
                  for at in range(0, len(jobs), batch)]
        began = time.monotonic()
        answers = [self.request("POST", "/v1/jobs", body) for body in bodies]
        took = time.monotonic() - began
        for status, answer in answers:
            check(status == 200, f"submit: {status} {answer}")
        return number(answers[0][1]["ids"][0]), number(answers[-1][1]["ids"][-1]), took

    def jobs(self, first, last):
        """The records of jobs first..last, newest first."""
        found, before = [], f"j-{last + 1}"
        while len(found) < last - first + 1:
            page = self.get(f"/v1/jobs?limit=10000&before={before}")
            check(page["jobs"], f"no jobs before {before}")
            found += [job for job in page["jobs"] if number(job["id"]) >= first]
            before = page["jobs"][-1]["id"]
        return found

    def memory(self):
        """The daemon's resident memory now and at its peak, in bytes."""
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return tuple(int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))

    def cpu_seconds(self):
        with open(f"/proc/{self.daemon.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def number(job_id):
    return int(job_id[2:])
