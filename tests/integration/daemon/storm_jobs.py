"""The jobs of a storm: what each must leave, who submits them, who follows the ledger meanwhile, and what
must be true in the end. The leases are in storm_leases.py."""

import http.client
import json
import os
import threading
import time

from scratch_site import PATIENCE, Connection, Failed, check, wait_for

ENDS = ("succeeded", "failed", "cancelled", "ended")  # the last is that of a lease
BATCH = 10  # jobs a submit
AHEAD = 40  # jobs that may be submitted and not ended
BULK = 100 * 1024
ATTEMPTS = 3  # of a job that may be restarted

# The cloud's id of the host on which a script runs.
HOST = 'HOST=${HOME#*/instances/instances/}; HOST=${HOST%%/*}\n'
# On a host that somebody has lent there is a mark of the holder.
NOT_LENT = '[ ! -e "$MARKS/lent/$HOST" ] || : > "$MARKS/$HOSTLER_JOB_ID.$HOSTLER_ATTEMPT.lent"\n'

# A second start of an attempt finds the mark of the first and ends with status 9. An attempt beside
# another one of its job finds the lock taken. Attempts may have different users: the lock is made with its
# final mode, as its attempt may be killed right after.
MARK = ('set -C; true > "$MARKS/$HOSTLER_JOB_ID.$HOSTLER_ATTEMPT.began" || exit 9\n' + HOST + NOT_LENT +
        'umask 0; exec 9>> "$MARKS/locks/$HOSTLER_JOB_ID"; umask 022\n'
        'flock -n 9 || : > "$MARKS/$HOSTLER_JOB_ID.$HOSTLER_ATTEMPT.overlap"\n')
ENDED = NOT_LENT + 'true > "$MARKS/$HOSTLER_JOB_ID.$HOSTLER_ATTEMPT.ended" || exit 9\n'


def make_locks(site):
    """The folder of the jobs' locks. Attempts of a job may have different users."""
    folder = os.path.join(site.marks, "locks")
    os.mkdir(folder)
    os.chmod(folder, 0o777)  # Not sticky: there no other user may open a file with O_CREAT.


class Expected:
    """The i-th job of the storm: what is submitted and what must come of it."""

    def __init__(self, i, kind, marks, seconds=0.3):
        line = f"job {i} is {kind}"
        work = {"short": "", "long": f"sleep {seconds:.1f}\n", "failing": "",
                "restartable": f"sleep {seconds / 3:.1f}\n",
                "bulky": f"head -c {BULK} /dev/zero | tr '\\0' x\n"}[kind]
        self.exit_status = 7 if kind == "failing" else 0
        self.state = "failed" if kind == "failing" else "succeeded"
        self.output = line + "\n" + ("x" * BULK if kind == "bulky" else "")
        self.errors = f"errors of {i}\n"
        script = (MARK + f"echo '{line}'\necho 'errors of {i}' >&2\n" + work + ENDED +
                  f"exit {self.exit_status}\n")
        self.restartable = kind == "restartable"
        self.lost = False
        self.body = {"script": script, "name": f"storm-{i}", "client_key": f"storm-{i}",
                     "restartable": self.restartable, "attempts_max": ATTEMPTS,
                     "env": {"MARKS": marks}, "needs": {"vcpus": 1, "ram": "256MiB"}}
        self.id = None


class Watcher(threading.Thread):
    """Follows the ledger across the daemon's deaths. What it was told once must stay true."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site = site
        self.changed = threading.Condition()
        self.records = []
        self.seen = set()  # (subject, event)
        self.ended = 0  # jobs
        self.leases_ended = 0
        self.shrinking = False
        self.over = False

    def run(self):
        while not self.over:
            try:
                self.follow()
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.02)  # The daemon is dead, or cut the line short.

    def follow(self):
        after = self.records[-1]["rev"] if self.records else 0
        connection = Connection(self.site.socket)
        try:
            connection.request("GET", f"/v1/events?after={after}")
            answer = connection.getresponse()
            while not self.over:
                line = answer.readline()
                if not line:
                    return
                if line.startswith(b"data: "):
                    self.tell(json.loads(line[6:]))
        finally:
            connection.close()

    def tell(self, record):
        with self.changed:
            self.records.append(record)
            self.seen.add((record["subject"], record["event"]))
            if record["event"] in ENDS:
                self.ended += record["subject"].startswith("j-")
                self.leases_ended += record["subject"].startswith("l-")
            self.shrinking = self.shrinking or record["event"] == "terminating"
            self.changed.notify_all()

    def wait_until(self, what, truth):
        with self.changed:
            check(self.changed.wait_for(lambda: truth(self), PATIENCE), f"{what}: it never came")


def answer_of(site, method, path, body=None):
    """The status and the body of an answer, and how often it was asked for again because the daemon had died."""
    until = time.monotonic() + PATIENCE
    asked_again = 0
    while True:
        try:
            status, said = site.request(method, path, body)
        except (OSError, http.client.HTTPException):
            status, said = 503, "the daemon died meanwhile"
        if status != 503:
            return status, said, asked_again
        check(time.monotonic() < until, f"{method} {path} is never answered")
        asked_again += 1
        time.sleep(0.02)


class Worker(threading.Thread):
    """Does its `work()` beside the storm, and keeps its problem for the main thread."""

    def __init__(self, site, watcher):
        super().__init__(daemon=True)
        self.site, self.watcher = site, watcher
        self.problem = None
        self.asked_again = 0

    def run(self):
        try:
            self.work()
        except Exception as problem:  # told by the main thread
            self.problem = problem

    def ask(self, method, path, body=None):
        status, said, asked_again = answer_of(self.site, method, path, body)
        self.asked_again += asked_again
        return status, said


class Submitter(Worker):
    """Submits batch by batch, a little ahead of the ends. An answer that never came is asked for again
    with the same client keys, which must make no second job."""

    def __init__(self, site, watcher, jobs):
        super().__init__(site, watcher)
        self.jobs = jobs

    def work(self):
        for at in range(0, len(self.jobs), BATCH):
            self.watcher.wait_until(f"room for job {at}", lambda w, at=at: w.ended + AHEAD >= at + BATCH)
            self.submit(self.jobs[at:at + BATCH])

    def submit(self, batch):
        status, body = self.ask("POST", "/v1/jobs", {"jobs": [job.body for job in batch]})
        check(status == 200, f"submit: {status} {body}")
        for job, its in zip(batch, body["ids"]):
            job.id = its


def hosts_hit(watcher, provider_ids):
    """Our names of the instances on which work may have been lost."""
    return {r["subject"] for r in watcher.records if r["event"] == "created"
            and any(r["reason"].endswith(its) for its in provider_ids)}


def check_jobs(site, jobs, hit):
    seen = {job["id"]: job for job in site.get("/v1/jobs?limit=10000")["jobs"]}
    check(len(seen) == len(jobs), f"{len(jobs)} jobs were submitted, {len(seen)} are there")
    for job in jobs:
        its = seen[job.id]
        try:
            check_job(site, job, its, hit)
        except Failed as problem:
            raise Failed(f"{problem}\n{ {k: v for k, v in its.items() if k != 'script'} }\n"
                         f"{site.get('/v1/why?subject=' + job.id)['records']}") from None


def check_job(site, job, its, hit):
    job.lost = (its.get("instance") in hit and its["state"] == "failed"
                and its["reason_code"] in ("supervision_lost", "host_lost", "output_lost"))
    if job.lost:
        if job.restartable and its["reason_code"] != "output_lost":
            check(its["attempt"] >= ATTEMPTS,
                  f"{job.id} may be restarted, and was given up after attempt {its['attempt']}")
        for stream, wanted in (("stdout", job.output), ("stderr", job.errors)):
            part = site.get(f"/v1/jobs/{job.id}/output?stream={stream}&max=1048576")
            check(wanted.startswith(part.get("text", "")),
                  f"{job.id} lost its end, not its words: {part.get('text', '')[:200]!r}")
            check(its["reason_code"] != "supervision_lost" or not part["complete"],
                  f"{job.id}: nobody knows whether its {stream} is whole")
        return
    check((its["state"], its.get("exit_status")) == (job.state, job.exit_status),
          f"{job.id} is to be {job.state}, not {its['state']}")
    for stream, wanted in (("stdout", job.output), ("stderr", job.errors)):
        got = site.output(job.id, stream)
        check(got == wanted, f"{job.id} has another {stream}: {got[:200]!r} for {wanted[:200]!r}")


def check_marks(site, jobs):
    """No attempt began twice (its script would have failed), and only work that may be restarted or
    that was lost has another number of attempts than one, begun and ended."""
    names = os.listdir(site.marks)
    overlaps = [name for name in names if name.endswith(".overlap")]
    check(not overlaps, f"attempts that ran beside another one of their job: {overlaps}")
    on_lent = [name for name in names if name.endswith(".lent")]
    check(not on_lent, f"attempts that ran on a host that was lent: {on_lent}")
    for job in jobs:
        for what in ("began", "ended"):
            marks = [n for n in names if n.startswith(job.id + ".") and n.endswith("." + what)]
            least, most = (0 if job.lost else 1), (ATTEMPTS if job.restartable else 1)
            check(least <= len(marks) <= most, f"{job.id}: {len(marks)} attempts {what}: {marks}")


def check_ledger(site, watcher, work):
    """What was told before a death is still so, and each job or lease ended once."""
    again = Watcher(site)
    told = list(watcher.records)  # the watcher still reads, and hosts still go
    last = told[-1]["rev"]
    again.start()
    again.wait_until("the ledger again", lambda w: w.records and w.records[-1]["rev"] >= last)
    again.over = True
    now = {(r["rev"], r["subject"], r["event"]) for r in again.records}
    for record in told:
        check((record["rev"], record["subject"], record["event"]) in now,
              f"it was told, and is not in the ledger any more: {record}")
    for one in work:
        ends = [r for r in again.records if r["subject"] == one.id and r["event"] in ENDS]
        check(len(ends) == 1, f"{one.id} ended {len(ends)} times: {ends}")


def show_what_waits(site):
    try:
        for job in site.get("/v1/jobs?limit=10000&state=queued,starting,running,collecting")["jobs"]:
            print("not ended:", {k: v for k, v in job.items() if k != "script"})
        for lease in site.get("/v1/leases?limit=10000&state=waiting,granting,granted,ending")["leases"]:
            print("not ended:", lease)
        for instance in site.instances():
            print("instance:", instance)
    except Exception as problem:
        print("the daemon says nothing more:", problem)
