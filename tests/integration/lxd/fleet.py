#!/usr/bin/env python3
"""Jobs on containers of a real LXD: made when there is work, given back when there is none. Run by lxd_lab.py."""

import unittest

from lxd_site import LxdSite, main
from scratch_site import wait_for

NEEDS = {"vcpus": 1, "ram": "128MiB"}
WHOLE_HOST = {"vcpus": 2, "ram": "128MiB"}
NAME = r"hostler-[0-9a-f-]{36}"


def waiting_for(path):
    """A script that says where it runs, and ends once this file is there on its host."""
    return f"hostname; until [ -e {path} ]; do sleep 0.1; done"


class FleetTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(LxdSite("fleet"))

    def submit(self, script, needs, **more):
        return self.site.submit({"script": script, "needs": needs, **more})[0]

    def host_of(self, job):
        """The name of the container on which it runs."""
        return wait_for(f"{job} says where it runs", lambda: self.site.output_so_far(job).strip())

    def end_well(self, job):
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")

    def test_jobs_run_on_containers_and_nothing_is_left_of_them(self):
        self.site.start()
        jobs = [self.submit(f"echo job {n} on $(hostname)", NEEDS) for n in range(12)]
        for n, job in enumerate(jobs):
            self.end_well(job)
            self.assertRegex(self.site.output(job), rf"^job {n} on {NAME}\n$")
        made = self.site.in_lxd()
        self.assertTrue(made)
        self.assertEqual({one["config"]["user.hostler-set"] for one in made.values()}, {"lxd"})
        self.assertEqual({one["config"]["limits.cpu"] for one in made.values()}, {"2"})
        self.site.wait_for_nothing()
        self.site.take_down()

    def test_cloud_init_follows_the_cloud_config_before_it_runs_hostlers_script(self):
        self.site.write_config(pool={
            "cloud_config": "#cloud-config\nwrite_files:\n- path: /etc/of-site\n  content: \"Gr\u00fc\u00dfe \"\n"
                            "runcmd: [sleep 2, touch /etc/before]\n",
            "boot_files": [{"path": "/etc/boot-file", "content": "of hostler", "mode": "0640", "owner": "root:adm"}],
            "init_command": "test -e /etc/before && cat /etc/of-site /etc/boot-file > /etc/both\n"
                            "stat -c ' %a %U:%G' /etc/boot-file >> /etc/both"})
        self.site.start()
        job = self.submit("cat /etc/both", NEEDS)
        self.end_well(job)
        self.assertEqual(self.site.output(job), "Gr\u00fc\u00dfe of hostler 640 root:adm\n")
        self.site.wait_for_nothing()

    def test_a_host_that_somebody_deletes_is_replaced_and_its_job_runs_again(self):
        self.site.write_config(pool={"probe_timeout": "10s"})
        self.site.start()
        job = self.submit(waiting_for("/tmp/go-on"), WHOLE_HOST, restartable=True)
        first = self.host_of(job)

        # Without its network: else it may tell yet that the job was killed, and then the job has failed.
        self.site.lxc("config", "device", "add", first, "eth0", "none")
        self.site.lxc("delete", "--force", first)
        second = wait_for("another host has the job", lambda: self.other(job, first))
        self.site.lxc("exec", second, "--", "touch", "/tmp/go-on")

        self.end_well(job)
        self.site.wait_for_nothing()

    def other(self, job, first):
        name = self.site.output_so_far(job).strip().split("\n")[-1]
        return name if name != first else ""

    def test_a_copy_made_by_hand_belongs_to_nobody(self):
        self.site.write_config(pool={"max": 1})
        self.site.start()
        job = self.submit(waiting_for("/tmp/go-on"), WHOLE_HOST)
        original = self.host_of(job)

        self.site.lxc("copy", original, "by-hand", "--instance-only", "--stateless")
        copied = self.site.in_lxd()["by-hand"]["config"]
        self.assertEqual(copied["user.hostler-set"], "lxd", "it does carry the tags")
        self.site.lxc("exec", original, "--", "touch", "/tmp/go-on")

        self.end_well(job)
        wait_for("what is hostler's is gone", lambda: set(self.site.in_lxd()) == {"by-hand"})
        self.site.lxc("delete", "--force", "by-hand")

    def test_a_host_that_is_kept_switched_off_is_woken_by_work(self):
        self.site.write_config(pool={"max": 1, "stopped": 1, "ceilings": {"instances_max": 1}})
        self.site.start()
        wait_for("a host is switched off", lambda: [one["state"] for one in self.site.instances()] == ["stopped"])
        wait_for("LXD has stopped it", lambda: [one["status"] for one in self.site.in_lxd().values()] == ["Stopped"])
        kept = next(iter(self.site.in_lxd()))
        job = self.submit("hostname", WHOLE_HOST)

        self.end_well(job)
        self.assertEqual(self.site.output(job).strip(), kept)
        self.site.write_config()
        self.site.reload()
        self.site.wait_for_nothing()

    def test_two_projects_of_one_lxd_are_two_sets(self):
        other = self.enterContext(LxdSite("other"))  # only for its project, and for what is in there
        sets = [{**self.site.by_tls(), "name": "tls"},
                {**self.site.by_socket(project="other"), "name": "socket"}]

        def pools(least):
            return [{"name": one["name"], "sets": [one["name"]], "types": ["small"], "min": least, "max": 1,
                     "idle_timeout": "1s", "boot_timeout": "5m", "shutdown_timeout": "1s"} for one in sets]

        self.site.write_config(sets=sets, pools=pools(1))
        self.site.start()
        for site, name in ((self.site, "tls"), (other, "socket")):
            made = wait_for(f"one of the set {name} is there", site.in_lxd)
            self.assertEqual([one["config"]["user.hostler-set"] for one in made.values()], [name])

        self.site.write_config(sets=sets, pools=pools(0))
        self.site.reload()
        self.site.wait_for_no_instances()
        self.assertEqual((self.site.in_lxd(), other.in_lxd()), ({}, {}))

    def test_a_quota_of_the_project_holds_creates_back_until_it_is_raised(self):
        self.site.lxc("project", "set", "fleet", "limits.instances", "1")
        self.addCleanup(self.site.lxc, "project", "unset", "fleet", "limits.instances")
        self.site.write_config(pool={"max": 2})
        self.site.start()
        first = self.submit(waiting_for("/tmp/go-on"), WHOLE_HOST)
        host = self.host_of(first)
        second = self.submit("true", WHOLE_HOST)

        gate = wait_for("a gate is shut", lambda: self.site.get("/v1/gates")["gates"])[0]
        self.assertEqual((gate["operation"], gate["class"]), ("create", "quota"))
        self.assertIn('Reached maximum number of instances in project "fleet"', gate["message"])
        self.assertEqual(len(self.site.in_lxd()), 1)

        self.site.lxc("project", "set", "fleet", "limits.instances", "2")
        self.site.hostler("gates", "open", gate["key"])
        self.end_well(second)
        self.site.lxc("exec", host, "--", "touch", "/tmp/go-on")
        self.end_well(first)
        self.site.wait_for_nothing()


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
