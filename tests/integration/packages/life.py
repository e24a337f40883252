#!/usr/bin/env python3
"""The life of the Debian packages on one machine: installed, run, upgraded below a running job, removed
with an instance alive, installed again, and purged when all is gone.

usage: scratch_debian.sh life.py FOLDER-OF-PACKAGES     with ../daemon in PYTHONPATH"""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from scratch_site import check, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
HARDENING = os.path.join(HERE, "../../abi/hardening.py")
NAMES = ("hostler", "hostler-driver-ec2", "hostler-driver-local", "hostler-driver-lxd",
         "hostler-sdk")
CONFIG, BEGINNING = "/etc/hostler/hostler.json", "/usr/share/hostler/local.json"
STATE, INSTANCES = "/var/lib/hostler", "/var/lib/hostler-local"


def run(*command, status=0, **options):
    """What it printed, on both streams."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, timeout=30, check=False, **options)
    check(done.returncode == status, f"{command}: status {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def systemctl(*words):
    run("systemctl", *words)


def processes_of_account():
    return subprocess.run(["pgrep", "-a", "-u", "hostler"], stdout=subprocess.PIPE, text=True,
                          check=False).stdout.splitlines()


def running():
    """Process ids of hostlerd."""
    found = []
    for path in glob.glob("/proc/[0-9]*/exe"):
        try:
            if os.readlink(path).startswith("/usr/bin/hostlerd"):
                found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def hostler(*words):
    return run("hostler", *words)


def fleet():
    return [one["id"] for one in json.loads(hostler("instances", "--json"))["instances"]]


# The machine and the packages.

def prepare_machine():
    """A machine without hostler that believes that systemd runs it."""
    if os.path.exists("/var/lib/dpkg/info/hostler.list"):
        run("dpkg", "--purge", *NAMES)
    for path in glob.glob("/var/lib/hostler*") + glob.glob("/etc/hostler*"):
        shutil.rmtree(path)
    if "\nhostler:" in pathlib.Path("/etc/passwd").read_text(encoding="utf-8"):
        run("userdel", "hostler")
    for user in ("member", "stranger"):
        run("useradd", user)
    pathlib.Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)
    os.makedirs("/run/systemd/system")
    pathlib.Path("/usr/bin/systemctl").unlink(missing_ok=True)
    shutil.copy(os.path.join(HERE, "systemctl.py"), "/usr/bin/systemctl")
    os.chmod("/usr/bin/systemctl", 0o755)


def add_line(path, line):
    with open(path, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def packages_in(folder):
    found = [path for name in NAMES for path in glob.glob(f"{folder}/{name}_*.deb")]
    check(len(found) == len(NAMES), f"{folder} has not one package of each: {found}")
    return found


def later(packages):
    """The same packages, with a higher version and another configuration to begin with."""
    folder = tempfile.mkdtemp()
    made = []
    for package in packages:
        tree = os.path.join(folder, "tree")
        run("dpkg-deb", "--raw-extract", package, tree)
        control = pathlib.Path(tree, "DEBIAN/control")
        text = control.read_text(encoding="utf-8")
        version = re.search(r"^Version: (.*)$", text, re.M)[1]
        control.write_text(re.sub(rf"(Version: |\(= ){re.escape(version)}", rf"\g<1>{version}+later", text),
                           encoding="utf-8")
        for shipped in (BEGINNING, CONFIG):
            if os.path.exists(tree + shipped):
                add_line(tree + shipped, "// Later packages begin with this.")
        made.append(os.path.join(folder, os.path.basename(package)))
        run("dpkg-deb", "-Znone", "--root-owner-group", "--build", tree, made[-1])
        shutil.rmtree(tree)
    return made


def files():
    """All that packages and daemon may have left, but what dpkg keeps for itself. Not of folders that
    the machine below goes on writing to."""
    spared = {"/var/lib/dpkg", "/run/stand-in", "/run/systemd"}
    found = set()
    for top in ("/etc", "/usr", "/var/lib", "/run", "/opt"):
        for folder, below, names in os.walk(top):
            below[:] = [name for name in below if os.path.join(folder, name) not in spared]
            found.update(os.path.join(folder, name) for name in below + names)
    return found


# Promises.

def installing_starts_and_enables_nothing(packages):
    run("dpkg", "--install", *packages)
    check(not running(), "a daemon runs after the installation")
    enabled = glob.glob("/etc/systemd/system/*.wants/hostlerd*")
    check(not enabled, f"the unit is enabled: {enabled}")
    check(not os.path.exists(STATE), f"{STATE} is there before a daemon is")


def the_unit_is_sound():
    if not shutil.which("systemd-analyze"):
        return
    unit = "/lib/systemd/system/hostlerd.service"
    said = run("systemd-analyze", "verify", "--man=no", unit)
    check("hostlerd" not in said, said)
    # 10 is a service without any sandbox. With the local driver it keeps less of one.
    run("systemd-analyze", "security", "--offline=yes", "--threshold=35", unit)


def what_is_installed_fits_together():
    said = hostler("config", "check", CONFIG)
    check("warn" not in said, said)
    found = hostler("driver", "list")
    check("local" in found and "lxd" in found, f"not every driver is found: {found}")


def its_examples_are_there_and_good():
    found = glob.glob("/usr/share/doc/hostler/config/examples/*.snapshot.json")
    check(found, "the package has no examples")
    for snapshot in found:
        run("hostler", "plan", "--snapshot", snapshot)


def programs_and_drivers_are_hardened():
    installed = [f"/usr/lib/hostler/{name}" for name in ("hostler-agent", "drivers/local.hostler.so",
                                                         "drivers/lxd.hostler.so",
                                                         "drivers/hostler-local-supervisor")]
    installed = [name for name in installed if os.path.exists(name)]
    check(len(installed) == 4, installed)
    run(sys.executable, HARDENING, "--optimised", *installed, shutil.which("hostlerd"), shutil.which("hostler"))


def it_runs_jobs_of_root_and_of_the_group():
    systemctl("start", "hostlerd.service")
    check(hostler("submit", "--wait", "--", "echo", "hello") == "hello\n", "no hello")
    run("usermod", "--append", "--groups", "hostler", "member")
    member = ("setpriv", "--reuid", "member", "--regid", "member", "--init-groups")
    said = run(*member, "hostler", "submit", "--wait", "--", "echo", "me too")
    check(said == "me too\n", said)
    stranger = ("setpriv", "--reuid", "stranger", "--regid", "stranger", "--init-groups")
    said = run(*stranger, "hostler", "jobs", status=5)
    check("/run/hostler/hostler.sock" in said, said)


def begin_a_job():
    """Its id; it ends when /tmp/go-on is there."""
    script = ": > /tmp/began; until [ -e /tmp/go-on ]; do sleep 0.05; done; echo done"
    job = hostler("submit", "--", "sh", "-c", script).strip()
    wait_for("the job begins", lambda: os.path.exists("/tmp/began"))
    wait_for("it is known to run",
             lambda: json.loads(hostler("job", job, "--json"))["state"] == "running")
    return job


def end_the_job(job):
    pathlib.Path("/tmp/go-on").touch()
    hostler("wait", job)
    check(hostler("logs", job) == "done\n", f"{job}: its output is not whole")
    ended = json.loads(hostler("job", job, "--json"))
    check((ended["state"], ended["attempt"]) == ("succeeded", 1), f"{job}: {ended}")


def an_upgrade_starts_the_daemon_again_and_costs_neither_job_nor_configuration(packages):
    job = begin_a_job()
    # As other packages do while instances are alive: it replaces /etc/passwd.
    run("usermod", "--comment", "changed", "member")
    before = running()
    add_line(CONFIG, "// Its admin has written this.")
    written = pathlib.Path(CONFIG).read_text(encoding="utf-8")
    run("dpkg", "--install", *packages)
    after = running()
    check(pathlib.Path(CONFIG).read_text(encoding="utf-8") == written, f"{CONFIG} is another than its admin wrote")
    check(len(after) == 1 and after != before, f"hostlerd's processes: {before}, then {after}")
    end_the_job(job)


def a_purge_keeps_what_knows_of_instances():
    check(fleet(), "no instance is left to try this with")
    its = fleet()
    run("dpkg", "--remove", *NAMES)
    check(not running(), "a daemon runs after the removal")
    check(processes_of_account(), "the instance died with the package")
    said = run("dpkg", "--purge", *NAMES)
    for folder in (STATE, INSTANCES):
        check(f"{folder} is kept" in said, said)
        check(os.path.exists(folder), f"{folder} is gone, and the instance is not")
    return its


def installed_again_it_takes_the_instances_up(packages, its):
    run("dpkg", "--install", *packages)
    systemctl("start", "hostlerd.service")
    check(set(its) <= set(fleet()), f"of {its} there are {fleet()}")
    hostler("kill", *its)
    wait_for("the fleet goes to zero", lambda: not fleet())


def a_purge_leaves_nothing(before):
    run("dpkg", "--purge", *NAMES)
    check(not running(), "a daemon runs after the purge")
    left = processes_of_account()
    check(not left, f"processes are left: {left}")
    more = sorted(files() - before)
    check(not more, f"files are left: {more}")


def main(folder):
    check(os.path.exists("/run/scratch-debian"),
          "this purges hostler, and its state, from the machine; it runs below scratch_debian.sh only")
    packages = packages_in(folder)
    prepare_machine()
    before = files()
    installing_starts_and_enables_nothing(packages)
    the_unit_is_sound()
    what_is_installed_fits_together()
    its_examples_are_there_and_good()
    programs_and_drivers_are_hardened()
    it_runs_jobs_of_root_and_of_the_group()
    an_upgrade_starts_the_daemon_again_and_costs_neither_job_nor_configuration(later(packages))
    its = a_purge_keeps_what_knows_of_instances()
    installed_again_it_takes_the_instances_up(packages, its)
    a_purge_leaves_nothing(before)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception:
        if os.path.exists("/run/stand-in/log"):
            sys.stdout.write(pathlib.Path("/run/stand-in/log").read_text(encoding="utf-8")[-5000:])
        raise
