"""A site whose pools lend hosts, and tests of leases on it."""

import http.client
import json
import os
import unittest

import tcp_access
from one_site import SITE, mark
from scratch_site import PATIENCE, wait_for

PORT = 0
LIVE = "waiting,granting,granted,ending,held"
MARKS = ("clean-fails", "clean-waits", "clean-with", "cleaning", "boots")


def pool(name, **members):
    """Each has one host at most, which stays."""
    return {"name": name, "sets": ["local"], "types": [name], "max": 1, "idle_timeout": "1h", "boot_timeout": "1m",
            "shutdown_timeout": "100ms", **members}


def write_config(port):
    clean = (f"touch {mark('cleaning')}; [ ! -e {mark('clean-with')} ] || . {mark('clean-with')}; while [ -e {mark('clean-waits')} ]; do sleep 0.05; done; "
             f"[ ! -e {mark('clean-fails')} ]")
    names = ("bare", "cleaned", "slow", "plain")
    SITE.write_config(
        access={"socket": {"path": SITE.socket},
                "tcp": {"address": "127.0.0.1", "port": port, "tokens_file": SITE.under("tokens")}},
        types=[{"name": name, "vcpus": 2, "ram": "2GiB", "price": 0.02} for name in names],
        pools=[pool("bare", leases={"max_term": "1h"}),
               pool("cleaned", leases={"max_term": "1h", "clean_command": clean}),
               pool("slow", leases={}, boot_probe=f"[ -e {mark('boots')} ]"),
               pool("plain")])


def start():
    """Makes the site; setUpModule() of a module that uses it."""
    global PORT
    SITE.make()
    tcp_access.write_tokens(SITE)
    PORT = tcp_access.start(SITE, write_config)


def tearDownModule():
    with SITE:
        for one in SITE.existing():
            SITE.request("POST", f"/v1/instances/{one['id']}/kill")
        SITE.take_down()


def instance(host):
    return next((one for one in SITE.existing() if one["id"] == host), None)


def why_it_went(host):
    """The reason code of its end."""
    def seen():
        records = SITE.get(f"/v1/why?subject={host}")["records"]
        return [one["reason_code"] for one in records if one["event"] == "terminating"]
    return wait_for(f"the end of {host}", seen)[0]


class LeaseTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(self.clean_up)

    def clean_up(self):
        for name in MARKS:
            if os.path.exists(mark(name)):
                os.unlink(mark(name))
        for one in SITE.get(f"/v1/leases?state={LIVE}")["leases"]:
            SITE.request("POST", f"/v1/leases/{one['id']}/cancel")
            self.wait_for_state(one["id"], "ended")

    def ask(self, method, path, body=None, status=200, role=None):
        """The answer to an admin, or to who has the token of the role."""
        if role is None:
            seen, said = SITE.request(method, path, body)
            self.assertEqual(seen, status, said)
            return said
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Authorization": "Bearer " + tcp_access.token_of(role)})
            answer = connection.getresponse()
            said = answer.read()
            SITE.contract.check(method, path, answer.status, answer.headers["Content-Type"], said)
            self.assertEqual(answer.status, status, said)
            return json.loads(said)
        finally:
            connection.close()

    def submit(self, pool_name, role=None, **members):
        return self.ask("POST", "/v1/leases", {"for": "1h", "pool": pool_name, **members}, role=role)["id"]

    def look(self, its):
        return SITE.get(f"/v1/leases/{its}")

    def wait_for_state(self, its, state):
        def seen():
            now = self.look(its)
            return now if now["state"] == state else None
        return wait_for(f"{its} is {state}", seen)

    def granted(self, pool_name, **members):
        its = self.submit(pool_name, **members)
        return its, self.wait_for_state(its, "granted")["instance"]

    def give_back(self, its, **body):
        self.ask("POST", f"/v1/leases/{its}/return", body)

    def restart(self):
        SITE.kill()
        SITE.start()
