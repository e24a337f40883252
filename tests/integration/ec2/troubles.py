#!/usr/bin/env python3
"""What goes wrong with an account: an error says what and where, and nothing is lost or left: wrong region, key, endpoint
or certificate, credentials that expire, errors of creates, instances that die. Run by ec2_lab.py."""

import hashlib
import unittest

from ec2_site import CLOUD, NEEDS, Ec2Site, main, waiting_for
from scratch_site import wait_for

JOB = {"script": "hostname", "needs": NEEDS}
WAITING = {"script": waiting_for("/tmp/go-on"), "needs": NEEDS}


class TroubleTest(unittest.TestCase):
    def setUp(self):
        self.site = self.enterContext(Ec2Site())

    def test_a_set_that_cannot_be_opened_says_why(self):
        key = CLOUD.lab["users"]["hostler"]
        wrong_secret = self.site.set_of(key=[key[0], "x" * 40, ""])
        self.assertIn("SignatureDoesNotMatch", self.site.problem_of(wrong_secret))
        unknown_key = self.site.set_of(key=["AKIAIOSFODNN7EXAMPLE", key[1], ""])
        self.assertIn("InvalidClientTokenId", self.site.problem_of(unknown_key))
        self.assertIn("UnauthorizedOperation: You are not authorized",
                      self.site.problem_of(self.site.set_of(key=CLOUD.lab["users"]["reader"])))
        self.assertIn("AuthFailure", self.site.problem_of(self.site.set_of(region="eu-west-1", subnets=[])))
        self.assertIn("does not answer", self.site.problem_of(self.site.set_of("http://127.0.0.1:9")))
        no_authority = self.site.set_of(CLOUD.lab["tls_endpoint"])
        self.assertIn("certificate", self.site.problem_of(no_authority))
        self.assertIn("subnet-00000000", self.site.problem_of(self.site.set_of(subnets=["subnet-00000000"])))

    def refusal(self, code, **more):
        """Class and message of the gate that an error of a create shuts."""
        CLOUD.fault(action="RunInstances", do="error", code=code, times=None, **more)
        job = self.site.submit(JOB)[0]
        gate = self.site.gate()
        self.site.request("POST", f"/v1/jobs/{job}/cancel")  # first: what is refused here is tried elsewhere
        self.site.wait_for_end(job)
        CLOUD.clear()
        self.site.open_gates()
        self.site.wait_for_nothing()  # a create that was refused for the moment is made now, and would take the next job
        return gate["class"], gate["message"]

    def test_errors_of_creates_keep_their_code_and_hold_back_what_they_are_about(self):
        self.site.start()
        for code, kind in (("VcpuLimitExceeded", "quota"), ("InsufficientInstanceCapacity", "capacity"),
                           ("RequestLimitExceeded", "rate_limit"), ("Unsupported", "unsupported"),
                           ("InvalidAMIID.NotFound", "not_found"), ("UnauthorizedOperation", "auth"),
                           ("Blocked", "auth")):
            with self.subTest(code=code):
                found, message = self.refusal(code)
                self.assertEqual(found, kind)
                self.assertIn(code, message)

    def test_credentials_that_expire_are_replaced_in_flight_and_no_job_is_lost(self):
        old = CLOUD.assume()
        fresh = CLOUD.assume()
        keys = [[one["AccessKeyId"], one["SecretAccessKey"], one["SessionToken"]] for one in (old, fresh)]
        self.site.write_config(sets=[self.site.set_of(key=keys[0])])
        self.site.start()
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        CLOUD.expire(key=keys[0][0])
        gate = self.site.gate()
        self.assertEqual(gate["class"], "auth")
        self.assertIn("RequestExpired", gate["message"])
        self.assertEqual(self.site.job(job)["state"], "running")

        self.site.credentials(keys[1])
        self.site.reload()
        self.site.open_gates()
        self.site.let_go(name)
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()

    def test_credentials_of_another_account_are_not_used_and_no_job_is_lost(self):
        stranger = CLOUD.assume(account=CLOUD.lab["other_account"])
        self.site.write_config(sets=[self.site.set_of(subnets=[], security_groups=[])])
        self.site.start()
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        self.site.credentials([stranger["AccessKeyId"], stranger["SecretAccessKey"], stranger["SessionToken"]])
        self.site.reload()
        said = wait_for("the set says what is wrong", self.about_account)
        self.assertIn(CLOUD.lab["other_account"], said)
        self.assertEqual(self.site.job(job)["state"], "running")

        self.site.credentials()
        self.site.reload()
        self.site.let_go(name)
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()

    def about_account(self):
        """What set or log say of an account."""
        with open(self.site.log, encoding="utf-8") as log:
            lines = [line for line in log if CLOUD.lab["other_account"] in line]
        return self.site.get("/v1/sets")["sets"][0].get("problem") or "".join(lines)

    def test_the_role_of_the_machine_is_enough_and_is_renewed(self):
        one = self.site.set_of()
        del one["credentials_file"]
        self.site.write_config(sets=[one])
        self.site.start()
        job = self.site.submit(WAITING)[0]
        name = self.site.instance_of(job)
        roles = {entry["key"] for entry in CLOUD.requests(action="RunInstances")} - {
            key[0] for key in CLOUD.lab["users"].values()}
        self.assertTrue(roles)
        for key in roles:
            CLOUD.expire(key=key)
        self.site.let_go(name)
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()

    def test_an_instance_that_dies_after_its_create_is_replaced_and_why_says_what_ec2_said(self):
        self.site.write_config(pool={"max": 1})
        CLOUD.limit(market="on-demand", instances=1)
        self.addCleanup(CLOUD.limit, market="on-demand", instances=None)
        self.site.start()
        CLOUD.doom(code="Client.InvalidKMSKey.InvalidState", message="The KMS key is disabled")
        job = self.site.submit(JOB)[0]
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()
        said = [record for one in self.site.instances() for record in
                self.site.get("/v1/why?subject=" + one["id"])["records"]]
        self.assertIn("KMS key is disabled", str(said))

    def test_a_machine_that_falls_silent_while_ec2_says_it_runs_is_given_back(self):
        self.site.write_config(pool={"max": 1, "min": 1, "probe_timeout": "5s"})
        self.site.start()
        self.assertEqual(self.site.wait_for_end(self.site.submit(JOB)[0])["state"], "succeeded")
        first = next(iter(self.site.in_ec2()))
        CLOUD.halt(instance=first)
        wait_for("another one takes its place", lambda: self.site.in_ec2().keys() - {first})
        wait_for("it is gone", lambda: first not in self.site.in_ec2())

    def test_user_data_that_is_too_long_for_ec2_goes_compressed(self):
        noise = hashlib.shake_256(b"noise").hexdigest(8000)
        self.site.write_config(pool={"init_command": f"# {noise}\ntouch /var/lib/initialised\n"})
        self.site.start()
        job = self.site.submit({**JOB, "script": "ls /var/lib/initialised"})[0]
        self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
        self.site.wait_for_nothing()

    def test_a_cloud_config_comes_beside_hostlers_script_compressed_or_not(self):
        for noise in ("", hashlib.shake_256(b"noise").hexdigest(9000)):
            with self.subTest(bytes=len(noise)):
                self.site.write_config(pool={
                    "cloud_config": f"#cloud-config\n# {noise}\nwrite_files:\n- path: /etc/of-site\n"
                                    "  content: \"Gr\u00fc\u00dfe \"\nruncmd: [touch /etc/before]\n",
                    "boot_files": [{"path": "/etc/boot-file", "content": "of hostler"}],
                    "init_command": "test -e /etc/before && cat /etc/of-site /etc/boot-file > /etc/both"})
                self.site.start()
                job = self.site.submit({**JOB, "script": "cat /etc/both"})[0]
                self.assertEqual(self.site.wait_for_end(job)["state"], "succeeded")
                self.assertEqual(self.site.output(job), "Gr\u00fc\u00dfe of hostler")
                self.site.wait_for_nothing()
                self.site.stop()

    def test_a_cloud_config_that_does_not_fit_is_refused_with_the_limit(self):
        """Kip's boots ended so without a word."""
        noise = hashlib.shake_256(b"noise").hexdigest(20000)
        self.site.write_config(pool={"cloud_config": f"#cloud-config\n# {noise}\n"})
        self.site.start()
        job = self.site.submit(JOB)[0]
        refused = wait_for("the create is refused", lambda: [
            one for one in self.site.get("/v1/events?follow=0&limit=10000")["events"] if one["event"] == "create_refused"])
        self.assertIn("the set takes at most 16384", refused[0]["reason"])
        self.assertIn("cloud_config", refused[0]["reason"])
        self.assertEqual(self.site.in_ec2(), {})
        self.site.request("POST", f"/v1/jobs/{job}/cancel")


if __name__ == "__main__":
    main(__doc__, hostler={"required": True})
