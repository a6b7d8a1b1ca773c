# SPDX-License-Identifier: Apache-2.0
"""Builds what a guest boots: Debian's own kernel, fetched by apt and unpacked, and an initrd with its RDMA modules and
the programs of this build. Nothing is installed on the host."""
import fcntl
import gzip
import lzma
import os
import pathlib
import shutil
import stat
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ["rdma_rxe", "ib_umad", "veth", "crc32_generic", "sch_netem", "udp_tunnel", "ip6_udp_tunnel"]
HOST_TOOLS = ["qemu-system-x86_64", "apt-get", "apt-cache", "dpkg-deb", "depmod", "modprobe", "ip", "tc", "rdma"]
PROVIDER = pathlib.Path("/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so")


class Skip(Exception):
    """Something the guest needs is not on this machine."""


def require_host_tools():
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    os.environ["PATH"] = path
    missing = [t for t in HOST_TOOLS if shutil.which(t) is None]
    if missing:
        raise Skip("not installed: " + " ".join(missing))
    if not PROVIDER.exists():
        raise Skip(f"{PROVIDER} is missing; install ibverbs-providers")


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def kernel_package():
    for line in run("apt-cache", "depends", "linux-image-amd64").splitlines():
        if "Depends:" in line:
            return line.split()[-1]
    raise Skip("apt does not know linux-image-amd64")


def unpacked(cache, package):
    """The files of a package, fetched once."""
    tree = cache / package
    if not (tree / ".complete").exists():
        shutil.rmtree(tree, ignore_errors=True)
        download = cache / "download"
        shutil.rmtree(download, ignore_errors=True)
        download.mkdir(parents=True)
        try:
            run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package, cwd=download)
        except subprocess.CalledProcessError as error:
            raise Skip(f"apt-get download {package}: {error.stderr.strip()}") from error
        tree.mkdir()
        run("dpkg-deb", "-x", str(next(download.glob("*.deb"))), str(tree))
        shutil.rmtree(download)
        (tree / ".complete").touch()
    return tree


def extract_vmlinux(bzimage, out):
    """The kernel inside: decompressing itself would cost an emulated processor five seconds."""
    data = bzimage.read_bytes()
    at = data.find(b"\xfd7zXZ\x00")
    while at >= 0:
        try:
            kernel = lzma.LZMADecompressor().decompress(data[at:])
        except lzma.LZMAError:
            kernel = b""
        if kernel[:4] == b"\x7fELF":
            out.write_bytes(kernel)
            return
        at = data.find(b"\xfd7zXZ\x00", at + 1)
    raise Skip(f"{bzimage} holds no kernel packed by xz")


def module_files(tree, release):
    """In the order in which they can be loaded."""
    if not (tree / "lib/modules" / release / "modules.dep").exists():
        run("depmod", "-b", str(tree), release)
    files = []
    for module in MODULES:
        for line in run("modprobe", "-d", str(tree), "-S", release, "--show-depends", module).splitlines():
            kind, *rest = line.split()
            if kind == "insmod" and rest[0] not in files:
                files.append(rest[0])
    return [pathlib.Path(f) for f in files]


def libraries_of(programs):
    found = set()
    for program in programs:
        for line in run("ldd", str(program)).splitlines():
            words = line.split()
            if "=>" in words and words[2].startswith("/"):
                found.add(words[2])
            elif words and words[0].startswith("/lib64/"):
                found.add(words[0])
    return sorted(found)


class Archive:
    """An initramfs: cpio, format newc."""

    def __init__(self):
        self.parts, self.number, self.known = [], 0, set()

    def entry(self, name, mode, data=b""):
        if name in self.known:
            return
        self.known.add(name)
        self.number += 1
        name_bytes = name.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name_bytes), 0)
        header = b"070701" + b"".join(b"%08x" % f for f in fields)
        self.parts.append((header + name_bytes).ljust(len(header + name_bytes) + -len(header + name_bytes) % 4, b"\0"))
        self.parts.append(data.ljust(len(data) + -len(data) % 4, b"\0"))

    def directory(self, name):
        parent = str(pathlib.PurePosixPath(name).parent)
        if parent != ".":
            self.directory(parent)
        self.entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, executable=True):
        self.directory(str(pathlib.PurePosixPath(name).parent)) if "/" in name else None
        self.entry(name, stat.S_IFREG | (0o755 if executable else 0o644), data)

    def link(self, name, target):
        self.entry(name, stat.S_IFLNK | 0o777, target.encode())

    def packed(self):
        self.entry("TRAILER!!!", 0)
        return gzip.compress(b"".join(self.parts), compresslevel=1)


def build(cache, programs):
    """Kernel and initrd; `programs` are put into /usr/bin. Returns the two paths."""
    require_host_tools()
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        package = kernel_package()
        tree, busybox = unpacked(cache, package), unpacked(cache, "busybox-static")
        release = next((tree / "lib/modules").iterdir()).name
        vmlinux = cache / f"vmlinux-{release}"
        if not vmlinux.exists():
            part = vmlinux.with_suffix(".part")
            extract_vmlinux(tree / "boot" / f"vmlinuz-{release}", part)
            part.rename(vmlinux)

        a = Archive()
        for name in ("dev", "proc", "sys", "tmp", "etc/libibverbs.d", "usr/lib", "bin"):
            a.directory(name)
        a.link("lib", "usr/lib")
        a.link("bin/sh", "busybox")
        a.file("bin/busybox", (busybox / "bin/busybox").read_bytes())
        names = []
        for module in module_files(tree, release):
            data = module.read_bytes()
            if module.suffix == ".xz":
                data = lzma.decompress(data)
            names.append(module.name.removesuffix(".xz"))
            a.file(f"modules/{names[-1]}", data, executable=False)
        a.file("modules/order", "\n".join(names).encode() + b"\n", executable=False)

        tools = [pathlib.Path(shutil.which(t)) for t in ("ip", "tc", "rdma")]
        for program in [*tools, *programs]:
            a.file(f"usr/bin/{program.name}", program.read_bytes())
        a.file(str(PROVIDER)[1:], PROVIDER.read_bytes())
        a.file("etc/libibverbs.d/rxe.driver", b"driver rxe\n", executable=False)
        for library in libraries_of([*tools, *programs, PROVIDER]):
            place = library[1:] if library.startswith(("/lib64/", "/usr/")) else "usr" + library
            a.file(place, pathlib.Path(library).read_bytes())
        a.file("init", (HERE / "init.sh").read_bytes())
        a.file("scenarios/network.sh", (HERE / "network.sh").read_bytes())
        for scenario in sorted((HERE / "scenarios").glob("*.sh")):
            a.file(f"scenarios/{scenario.name}", scenario.read_bytes())
        initrd = cache / f"initrd-{os.getpid()}.gz"
        initrd.write_bytes(a.packed())
        return vmlinux, initrd
