"""What must be true after the storm of drivers: of the cloud, and of the journal beside it."""

from collections import Counter

from erratic_site import FOREIGN
from scratch_site import check

NEVER = ("adopted", "duplicate", "vanished", "destroy_ignored", "list_flawed", "foreign_owner")
SOON = 0.05  # seconds that a daemon may have needed for what it was sent before it was killed


def check_cloud(cloud):
    made = cloud.made()
    for number, what in ((1, "key"), (2, "instance of hostler")):
        twice = [one for one, count in Counter(fields[number] for fields in made).items() if count > 1]
        check(not twice, f"several machines were made of one {what}: {twice}")
    for word, what in (("conflict", "creates were repeated with another request"),
                       ("foreign", "destroys hit machines of another set")):
        wrong = [fields for _, fields in cloud.lines(word)]
        check(not wrong, f"{what}: {wrong}")
    left = cloud.left()
    check(left >= set(FOREIGN), f"machines of somebody else were destroyed: {set(FOREIGN) - left}")
    check(left == set(FOREIGN), f"machines are left in the cloud: {left - set(FOREIGN)}")


def by_subject(records):
    out = {}
    for record in records:
        out.setdefault(record["subject"], []).append(record)
    return out


def check_journal(site, records):
    """Each machine of the cloud was intended before, was known by its id, and is gone; no other instance is there."""
    made = {host: (its, key) for its, key, host, _ in site.cloud.made()}
    wrong = [one for one in records if one["event"] in NEVER]
    check(not wrong, f"the journal did not know what the cloud had: {wrong[:3]}")
    of = by_subject(records)
    for host, (its, _) in made.items():
        its_records = of.get(host, [])
        events = [one["event"] for one in its_records]
        check(events and events[0] == "create_intended", f"{its} was made for {host}, whose records are {its_records}")
        check(events.count("gone") == 1, f"{its} has ended, and the records of {host} are {its_records}")
        for one in its_records:
            known = one["event"] != "created" or one["reason"].endswith(" " + its)
            check(known, f"{host} is {its}, and the journal says {one}")
    for host in [subject for subject, its in of.items() if its[0]["event"] == "create_intended"]:
        end = {"gone", "abandoned", "create_refused"} & {one["event"] for one in of[host]}
        check(end, f"{host} has no end in the journal: {of[host]}")
    rows = [one for one in site.instances() if one["state"] != "abandoned" or one["id"] in made]
    check(not rows, f"the journal has instances that the cloud has not: {rows}")
    unended = [j for j in site.get("/v1/jobs?limit=10000")["jobs"] if j["state"] != "cancelled"]
    check(not unended, f"jobs were not cancelled: {unended[:3]}")


def check_emitted(site, records):
    """A record that was emitted is known, whatever became of the driver just then: the outcome of that create is not unknown."""
    made = site.cloud.made()
    host_of = {name: host for its, key, host, _ in made for name in (its, key)}
    emitted = [(when, fields[0]) for when, fields in site.cloud.lines("emitted")]
    emitted += [(when, name) for when, (_, name, _, moment) in site.cloud.lines("died") if moment == "emitted"]
    of = by_subject(records)
    for when, its in emitted:
        for one in of[host_of[its]]:
            if one["event"] == "created":
                break
            at = one["time_us"] / 1e6
            killed = any(when - SOON <= kill <= at for kill in site.kills)
            check(one["event"] != "create_unknown" or at < when or killed,
                  f"{its} was emitted, and then its create was said to be unknown: {of[host_of[its]]}")


def blows(cloud, word):
    return Counter((function, moment) for _, (function, _, _, moment) in cloud.lines(word))


def processes_given_up(site):
    """How many were killed because a call hung in them for too long."""
    with open(site.log, encoding="utf-8", errors="replace") as log:
        return sum(" error driver erratic, " in line and "was killed: R31: " in line for line in log)


def was_a_storm(site, gives_up):
    """Where nobody was struck, nothing is proved. `gives_up`: also a call that hung was waited for until its end."""
    died = {function for function, _ in blows(site.cloud, "died")}
    return (died == {"create", "destroy", "list"} and blows(site.cloud, "hung") and site.kills
            and (processes_given_up(site) or not gives_up))


def figures(site, records):
    died, hung = blows(site.cloud, "died"), blows(site.cloud, "hung")
    events = Counter(one["event"] for one in records)

    def shown(counts):
        return f"{sum(counts.values())} ({', '.join(f'{f} {m} {n}' for (f, m), n in sorted(counts.items()))})"
    return (f"{len(site.cloud.made())} creates, {events['create_unknown']} unknown, {events['abandoned']} abandoned; "
            f"died {shown(died)}; hung {shown(hung)}, {processes_given_up(site)} processes killed for it; "
            f"{events['call_held_back']} calls held back; {len(site.kills) // 2} kills of the daemon")
