"""Machines for instances: namespaces each, on one bridge, with the files of this machine below an overlay in memory and
a real sshd. They cost a few processes and some MiB. They end with the process that made them, since that is process 1
of a namespace of processes (ec2_lab.py)."""

import concurrent.futures
import os
import shutil
import subprocess
import threading
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
BRIDGE, METADATA = "10.77.0.1", "169.254.169.254"
USER, UID = "admin", 5000  # who logs in by the key of the instance, as in Debian's images
# The RAM that these machines share says nothing of their types.
SSHD = """HostKey /etc/ssh/ssh_host_ed25519_key
Include /etc/ssh/sshd_config.d/*.conf
PasswordAuthentication no
PidFile /run/sshd.pid
PrintLastLog no
PrintMotd no
SetEnv HOSTLER_RAM=0
UseDNS no
UsePAM no
"""
# Images of EC2 have a systemd, which a machine here has not: the host reloads sshd by it.
SYSTEMCTL = """#!/bin/sh
case $* in
  'reload ssh' | 'reload sshd') kill -HUP "$(cat /run/sshd.pid)" ;;
  *) echo 'System has not been booted with systemd' >&2; exit 1 ;;
esac
"""
# As cloud-init writes it.
REFUSED = ("no-port-forwarding,no-agent-forwarding,no-X11-forwarding,command=\"echo 'Please login as the user "
           f"\\\"{USER}\\\" rather than the user \\\"root\\\".';echo;sleep 1;exit 142\" ")


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}: {done.stderr.strip()[-2000:]}")


def address_of(number, second=77):
    return f"10.{second}.{1 + number // 250}.{1 + number % 250}"


class Machine:
    def __init__(self, folder, number, hostname):
        self.folder = folder
        self.number = number
        self.hostname = hostname
        self.address, self.public_address = address_of(number), address_of(number, 78)
        self.process = None
        self.boots = 0
        self.lock = threading.Lock()
        self.removed = False

    def upper(self, path):
        return os.path.join(self.folder, "upper", path.lstrip("/"))

    def write(self, path, content, mode=0o644, owner=0):
        where = self.upper(path)
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(where, mode)
        os.chown(where, owner, owner)

    def append(self, path, line, mode):
        """To a file of this machine."""
        with open(path, "rb") as file:
            self.write(path, file.read() + line.encode(), mode)

    def private(self, path, mode=0o755, owner=0):
        """A folder that has nothing of this machine's."""
        where = self.upper(path)
        os.makedirs(where, exist_ok=True)
        os.setxattr(where, "trusted.overlay.opaque", b"y")
        os.chmod(where, mode)
        os.chown(where, owner, owner)

    def install(self, instructions, key):
        """The disk, before the first boot. `key` is that of the instance, or empty."""
        for name in ("upper", "work", "root"):
            os.makedirs(os.path.join(self.folder, name))
        for path, mode in (("/etc/ssh", 0o755), ("/root", 0o700), ("/tmp", 0o1777), ("/var/tmp", 0o1777),
                           ("/var/lib/lab", 0o700), ("/var/lib/hostler-agent", 0o755), ("/var/log", 0o755)):
            self.private(path, mode)
        os.rmdir(self.upper("/var/lib/hostler-agent"))
        self.private("/home", 0o755)
        self.private(f"/home/{USER}", 0o755, UID)
        self.append("/etc/passwd", f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/sh\n", 0o644)
        self.append("/etc/group", f"{USER}:x:{UID}:\n", 0o644)
        self.append("/etc/shadow", f"{USER}:*:20000:0:99999:7:::\n", 0o640)
        self.write(f"/etc/sudoers.d/90-{USER}", f"{USER} ALL=(ALL) NOPASSWD:ALL\n", 0o440)
        self.write("/etc/hostname", self.hostname + "\n")
        self.write("/etc/hosts", f"127.0.0.1 localhost\n{self.address} {self.hostname}\n")
        self.write("/etc/ssh/sshd_config", SSHD)
        self.write("/usr/bin/systemctl", SYSTEMCTL, 0o755)
        self.install_keys(instructions, key)
        with open(os.path.join(HERE, "machine_boot.sh"), "rb") as file:
            self.write("/var/lib/lab/boot", file.read())
        self.write("/var/lib/lab/each_boot", "\n".join(instructions.boot_commands) + "\n", 0o700)
        for path, content, mode in instructions.files:
            self.write(path, content, mode)
        scripts = [("#!/bin/sh\n" + "\n".join(instructions.run_commands) + "\n").encode(), *instructions.scripts]
        for number, script in enumerate(scripts):
            self.write(f"/var/lib/lab/once.{number:03}", script, 0o700)
        self.write("/var/log/console", "".join(f"lab: {one}\n" for one in instructions.problems))

    def install_keys(self, instructions, key):
        keys = [line.strip() for line in [key, *instructions.keys] if line.strip()]
        before = "" if instructions.root else REFUSED
        self.private("/root/.ssh", 0o700)
        self.private(f"/home/{USER}/.ssh", 0o700, UID)
        self.write("/root/.ssh/authorized_keys", "".join(f"{before}{line}\n" for line in keys), 0o600)
        self.write(f"/home/{USER}/.ssh/authorized_keys", "".join(f"{line}\n" for line in keys), 0o600, UID)
        for name, text in instructions.host_keys.items():
            self.write(f"/etc/ssh/{name}", text, 0o644 if name.endswith(".pub") else 0o600)

    def boot(self):
        with self.lock:
            if self.removed or self.process:
                return
            name = f"m{self.number}"
            mac = f"02:ec:20:77:{self.number // 256:02x}:{self.number % 256:02x}"  # as its address: no old one is known
            with open(os.path.join(self.folder, "boot_id"), "w", encoding="ascii") as file:
                file.write(f"{uuid.uuid4()}\n")
            run("ip", "netns", "add", name)
            run("ip", "-batch", "-", text=f"link add {name} type veth peer name eth0 address {mac} netns {name}\n"
                f"link set {name} master lab0\nlink set {name} up\n")
            with open(os.path.join(self.folder, "launch.log"), "ab") as log:
                self.process = subprocess.Popen(
                    ["nsenter", f"--net=/run/netns/{name}", "unshare", "--pid", "--fork", "--kill-child=KILL", "--mount",
                     "--propagation", "private", "--uts", "--ipc", "sh", os.path.join(HERE, "machine_launch.sh"),
                     self.folder, self.hostname, self.address, self.public_address],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env={"PATH": os.environ["PATH"]})
            self.boots += 1

    def halt(self):
        """As if its power was cut."""
        with self.lock:
            if not self.process:
                return
            self.process.kill()
            self.process.wait()
            self.process = None
            subprocess.run(["ip", "netns", "del", f"m{self.number}"], capture_output=True, check=False)
            # The kernel takes the other end away a little later: its name is needed again.
            subprocess.run(["ip", "link", "del", f"m{self.number}"], capture_output=True, check=False)

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def console(self):
        try:
            with open(self.upper("/var/log/console"), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""


class Machines:
    """Those that are there. A boot is work of a few threads, so that whoever asks for it does not wait."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder)
        run("mount", "-t", "tmpfs", "-o", "mode=711,size=60%", "tmpfs", folder)
        run("ip", "-batch", "-", text="link add lab0 type bridge\nlink set lab0 up\n"
            f"addr add {BRIDGE}/16 dev lab0\naddr add {METADATA}/32 dev lab0\n"
            "route add 10.78.0.0/16 dev lab0 src 10.77.0.1\n")
        self.lock = threading.Lock()
        self.all = {}  # by instance id
        self.workers = concurrent.futures.ThreadPoolExecutor(4)

    def create(self, instance, instructions, key):
        """The machine, whose address is known and which boots soon. The lowest free address is taken, so that one is
        soon another machine's."""
        with self.lock:
            used = {one.number for one in self.all.values()}
            number = next(n for n in range(len(used) + 1) if n not in used)
            hostname = "ip-" + address_of(number).replace(".", "-")
            machine = self.all[instance] = Machine(os.path.join(self.folder, instance), number, hostname)
        self.later(self.begin, machine, instructions, key)
        return machine

    @staticmethod
    def begin(machine, instructions, key):
        machine.install(instructions, key)
        machine.boot()

    def later(self, function, *arguments):
        """By a worker; what goes wrong there is shown."""
        def guarded():
            try:
                function(*arguments)
            except Exception as problem:  # pylint: disable=broad-except
                print(f"ec2 lab: {function.__name__}: {problem!r}", flush=True)
        self.workers.submit(guarded)

    def remove(self, instance):
        machine = self.all.get(instance)
        if not machine:
            return
        with machine.lock:
            machine.removed = True
        machine.halt()
        with self.lock:
            self.all.pop(instance, None)
        shutil.rmtree(machine.folder, ignore_errors=True)

    def by_address(self, address):
        with self.lock:
            return next(((name, one) for name, one in self.all.items() if one.address == address), (None, None))
