"""The leases of a storm: which pools lend, what each holder does with its host, and what must be true in the end."""

import collections
import os
import time

from scratch_site import Failed, check
from storm_jobs import ENDS, HOST, Worker

HOLDERS = 10  # requests at a time
# Requests from the grant on, and why the lease ends then.
FATES = {
    "unused": ([("return", {"used": False})], "returned"),
    "used": ([("return", {"used": True})], "returned"),
    "renewed": ([("renew", {"for": "30m"}), ("return", {})], "returned"),
    "shortened": ([("renew", {"for": "1s"})], "term"),
    "cancelled": ([("cancel", None)], "cancelled"),
    # These do not wait for the grant.
    "brief": ([], "term"),
    "withdrawn": ([("cancel", None)], "cancelled"),
}
IMPATIENT = ("brief", "withdrawn")
# Events of work by which it gets a host, and by which it has it no longer.
TAKES = ("starting", "granting")
LEAVES = (*ENDS, "collecting", "queued_again", "interrupted", "held")


def pool(name, most, **members):
    return {"name": name, "sets": ["local"], "types": ["small"], "max": most, "idle_timeout": "3s",
            "boot_timeout": "1m", "shutdown_timeout": "1s", "starvation_after": "1s", **members}


def write_config(site):
    """Jobs run in all pools. One cleans hosts that were used, and one destroys them."""
    os.mkdir(os.path.join(site.marks, "lent"))
    clean = HOST + f'rm -f "{site.marks}/lent/$HOST"'
    site.write_config(pools=[pool("unlent", 2), pool("cleaned", 4, leases={"clean_command": clean}),
                             pool("bare", 3, leases={})])


class ExpectedLease:
    """What must come of one lease of a request."""

    def __init__(self, request):
        self.fate, self.requests, self.reason = request.fate, *FATES[request.fate]
        self.seconds = request.seconds
        self.id = None
        self.refused = False
        self.lost = False


class Request:
    """The i-th request of the storm; for more than one lease, a gang. All its leases have one fate."""

    def __init__(self, i, count, chance):
        self.fate = chance.choice(list(FATES))
        self.seconds = chance.uniform(0, 0.3)  # that each is held
        self.body = {"for": "1s" if self.fate == "brief" else "1h", "name": f"storm-{i}", "client_key": f"lease-{i}",
                     "needs": {"vcpus": 1, "ram": "256MiB"}}
        pool_name = chance.choice(("cleaned", "bare", None))
        if pool_name:
            self.body["pool"] = pool_name
        if count > 1:
            self.body["count"] = count
        self.leases = [ExpectedLease(self) for _ in range(count)]


def make_requests(leases, gangs, chance):
    """Gangs have 2 leases or 3, and come among the others."""
    counts = [1] * leases + [chance.choice((2, 3)) for _ in range(gangs)]
    chance.shuffle(counts)
    return [Request(i, count, chance) for i, count in enumerate(counts)]


class Holder(Worker):
    """Makes one request after another of those that are left. From the grant on its own mark lies on the host, until it
    says that it has not used the host; after use only who cleans the host removes it."""

    def __init__(self, site, watcher, left):
        super().__init__(site, watcher)
        self.left = left

    def work(self):
        while True:
            try:
                request = self.left.popleft()
            except IndexError:
                return
            self.hold(request)

    def hold(self, request):
        status, said = self.ask("POST", "/v1/leases", request.body)
        check(status == 200, f"lease: {status} {said}")
        ids = said.get("ids", [said["id"]])
        check(len(ids) == len(request.leases), f"{request.body}: {said}")
        for lease, its in zip(request.leases, ids):
            lease.id = its
        for lease in request.leases:
            if lease.fate in IMPATIENT or self.is_granted(lease):
                self.make_requests(lease)
        for lease in request.leases:
            self.watcher.wait_until(f"the end of {lease.id}", lambda w, its=lease.id: (its, "ended") in w.seen)

    def is_granted(self, lease):
        """Waits for that, or for the loss of its host, and leaves the mark."""
        self.watcher.wait_until(f"the grant of {lease.id}",
                                lambda w: w.seen & {(lease.id, "granted"), (lease.id, "ended")})
        if (lease.id, "granted") not in self.watcher.seen:
            return False
        before = self.look(lease)
        path = self.mark_of(before["instance"])
        if path is None:
            return False
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise Failed(f"{lease.id} got a host that somebody else has, or that nobody has cleaned: {path}") from None
        time.sleep(lease.seconds)
        now = self.look(lease)
        check(now["instance"] == before["instance"] and now["state"] in ("granted", "ended"),
              f"{lease.id} was granted and is not any more: {now}")
        if lease.fate == "unused":
            os.unlink(path)
        return True

    def look(self, lease):
        return self.ask("GET", f"/v1/leases/{lease.id}")[1]

    def mark_of(self, host):
        """None if the host is gone."""
        for one in self.ask("GET", "/v1/instances")[1]["instances"]:
            if one["id"] == host:
                return os.path.join(self.site.marks, "lent", one["provider_id"])
        return None

    def make_requests(self, lease):
        for action, body in lease.requests:
            before = self.asked_again
            status, said = self.ask("POST", f"/v1/leases/{lease.id}/{action}", body)
            check(status in (200, 409), f"{action} of {lease.id}: {status} {said}")
            # A request that is made again may find that the first one has ended the lease.
            # So may the withdrawal of a lease whose gang has ended with another one.
            is_answer = self.asked_again == before and lease.fate != "withdrawn"
            lease.refused = lease.refused or (status == 409 and is_answer)


def start_holders(site, watcher, requests):
    left = collections.deque(requests)
    holders = [Holder(site, watcher, left) for _ in range(min(HOLDERS, len(requests)))]
    for holder in holders:
        holder.start()
    return holders


def check_leases(site, watcher, requests, hit):
    """Each request that was accepted is there once, had its hosts once at most, and ended as its holder wanted."""
    seen = {its["id"]: its for its in site.get("/v1/leases?limit=10000")["leases"]}
    count = sum(len(request.leases) for request in requests)
    check(len(seen) == count, f"{count} leases were asked for, {len(seen)} are there")
    grants = collections.Counter(r["subject"] for r in watcher.records if r["event"] == "granted")
    for request in requests:
        its_grants = {lease.id: grants[lease.id] for lease in request.leases}
        check(len(set(its_grants.values())) == 1, f"of one gang some were granted and some were not: {its_grants}")
        for lease in request.leases:
            check_lease(lease, seen[lease.id], grants[lease.id], hit)


def check_lease(lease, its, grants, hit):
    lease.lost = its.get("instance") in hit and its["reason_code"] == "host_lost"
    check(its["state"] == "ended" and (lease.lost or its["reason_code"] == lease.reason),
          f"{lease.id} is to end by {lease.reason}: {its}")
    check(lease.lost or not lease.refused, f"a request of the holder of {lease.id} was refused: {its}")
    least = 0 if lease.lost or lease.fate == "withdrawn" else 1
    check(least <= grants <= 1, f"{lease.id} was granted {grants} times")


def check_hosts(records):
    """In the order of the ledger, nothing was placed on a host that was lent, and no lease on one with other work.
    How many hosts had both kinds of work."""
    on = {}  # the hosts of work
    kinds = collections.defaultdict(set)
    for record in records:
        its = record["subject"]
        if record["event"] in TAKES:
            host = record["reason"].removeprefix("on ")
            beside = [other for other, where in on.items() if where == host]
            check(not any("l-" in (its[:2], other[:2]) for other in beside), f"{its} came to {host} beside {beside}")
            on[its] = host
            kinds[host].add(its[:2])
        elif record["event"] in LEAVES:
            on.pop(its, None)
    return sum(len(its) == 2 for its in kinds.values())
