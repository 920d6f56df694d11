/** A copy of this system with a running systemd, for what `rehome service` does to it. */
import { chmodSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable, temporaryFolder } from "./binary.ts";
import { finished } from "./finished.ts";

/** What another machine in the copy's network would reach it by. */
const copyAddress = "198.51.100.7";

/**
 * The layers: all of this system to read, memory to write to. The homes and the service's folder
 * are empty: a trial or a service of this system is not the copy's. The network has a loopback and
 * one more interface, and nobody else's ports.
 */
const boot = `
  set -e
  work=$1/copy
  mkdir -p $work; mount -t tmpfs tmpfs $work; mkdir $work/upper $work/work $work/root
  mount -t overlay overlay -o lowerdir=/,upperdir=$work/upper,workdir=$work/work $work/root
  for each in home root run tmp var/tmp; do mount -t tmpfs tmpfs $work/root/$each; done
  chmod 700 $work/root/root
  chmod 1777 $work/root/tmp $work/root/var/tmp
  mount -t proc proc $work/root/proc
  mount -t sysfs sysfs $work/root/sys
  mount -t cgroup2 cgroup2 $work/root/sys/fs/cgroup
  mount --rbind /dev $work/root/dev
  mkdir -p $work/root/mnt/shared; mount --bind $1 $work/root/mnt/shared
  ip link set lo up
  ip link add lan0 type veth peer name lan1; ip address add ${copyAddress}/24 dev lan0; ip link set lan0 up; ip link set lan1 up
  cd $work/root
  rm -rf .dockerenv etc/fstab etc/default/rehome etc/systemd/system/rehome* usr/sbin/policy-rc.d var/lib/rehome
  install -m 755 "$2" usr/local/bin/rehome
  # What looks after a kernel and its devices, which are not the copy's.
  for each in systemd-udevd.service systemd-udev-trigger.service systemd-udevd-control.socket systemd-udevd-kernel.socket \\
    systemd-modules-load.service systemd-sysctl.service systemd-binfmt.service proc-sys-fs-binfmt_misc.automount; do
    ln -s /dev/null etc/systemd/system/$each
  done
  printf '[Unit]\\nWants=script.service systemd-journald.service\\n' >etc/systemd/system/script.target
  printf '[Service]\\nType=oneshot\\nExecStart=/mnt/shared/run\\nExecStopPost=/bin/systemctl exit 0\\n' \\
    >etc/systemd/system/script.service
  # Not chroot, in which the kernel makes no user namespace, as PrivateUsers= of the unit asks for.
  mkdir -p mnt/old; pivot_root . mnt/old
  exec /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=docker \\
    /bin/sh -c 'umount -l /mnt/old; exec /lib/systemd/systemd --unit=script.target --show-status=0 --log-target=null'`;

/**
 * Runs a shell script as root beside a booted systemd, with the executable as
 * /usr/local/bin/rehome, and returns all that it printed. Everything ends with it. Throws when the
 * script fails.
 */
export async function inSystem(script: string): Promise<string> {
  using folder = temporaryFolder();
  const { path } = folder;
  const put = (name: string, text: string) => {
    writeFileSync(join(path, name), text);
    chmodSync(join(path, name), 0o755);
  };
  put("script", script);
  copyFileSync(await executable(), join(path, "rehome"));
  put(
    "run",
    "#!/bin/sh\ncd /\nHOME=/root sh -eu /mnt/shared/script >/mnt/shared/printed 2>&1; echo $? >/mnt/shared/code\n",
  );
  // Whoever works in the copy reaches the folder.
  chmodSync(path, 0o755);
  const namespaces = ["--mount", "--pid", "--fork", "--cgroup", "--uts", "--ipc", "--net"];
  const shell = ["bash", "-c", boot, "boot", path, await executable()];
  const { stderr } = await finished(["unshare", ...namespaces, "--kill-child", ...shell]);
  const read = (name: string) =>
    Bun.file(join(path, name))
      .text()
      .catch(() => "");
  const printed = await read("printed");
  const code = (await read("code")).trim();
  if (code !== "0")
    throw new Error(`the script ended with ${code || "nothing"}:\n${stderr}${printed}`);
  return printed;
}
