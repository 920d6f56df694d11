/** The units: what systemd says of them, and that the service stays within what they allow. */
import { expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "../../test/helpers/finished.ts";
import { inSystem } from "../../test/helpers/system.ts";
import { executable, rehome, temporaryFolder } from "../../test/helpers/binary.ts";

/** systemd's own worst mark for a unit that is well locked in: "OK" ends at 2.0. */
const exposureMax = 1.5;

async function analyze(...args: string[]): Promise<{ exitCode: number; text: string }> {
  const { exitCode, stdout, stderr } = await finished(["systemd-analyze", ...args]);
  return { exitCode, text: stdout + stderr };
}

test("systemd finds nothing to criticise, and the service is well locked in", async () => {
  using folder = temporaryFolder();
  // The folder of the project may have a blank in its path, which no unit can hold.
  const path = join(folder.path, "rehome");
  copyFileSync(await executable(), path);
  const { stdout, exitCode } = await rehome(["service", "print"], { path });
  expect(exitCode).toBe(0);
  const unit = join(folder.path, "rehome.service");
  writeFileSync(unit, stdout);
  expect(await analyze("verify", unit)).toEqual({ exitCode: 0, text: "" });
  const { text } = await analyze("security", "--offline=true", unit);
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(text)?.[1]);
  expect(exposure).toBeLessThanOrEqual(exposureMax);
  // The compiler would be turned off without a word.
  expect(stdout).not.toMatch(/^MemoryDenyWriteExecute=yes/m);
});

const postgres = "/usr/lib/postgresql/15/bin";

test("a service whose database comes long after the machine ends serving", async () => {
  // Starts follow each other faster than in the unit, so that a limit of them is met in seconds.
  const text = await inSystem(`
    exec 2>&1
    rehome service install --port 9000 >/dev/null
    systemctl stop rehome
    echo 'REHOME_STORE=postgres://postgres@127.0.0.1:5433/postgres' >>/etc/default/rehome
    mkdir -p /etc/systemd/system/rehome.service.d
    printf '[Service]\nRestartSec=100ms\n' >/etc/systemd/system/rehome.service.d/soon.conf
    systemctl daemon-reload
    systemctl start rehome --no-block
    until [ "$(systemctl show rehome -p NRestarts --value)" -ge 8 ] || systemctl is-failed --quiet rehome; do sleep 0.1; done
    install -d -o postgres /srv/database
    cd /srv/database
    su postgres -c '${postgres}/initdb -D /srv/database/data --auth=trust -E UTF8 --no-sync >/dev/null'
    su postgres -c '${postgres}/postgres -D /srv/database/data -p 5433 -k /tmp -c fsync=off >/dev/null 2>&1 &'
    rehome health --port 9000 --wait 60s
    until systemctl is-active --quiet rehome; do sleep 0.1; done
    echo "$(systemctl show rehome -p StartLimitIntervalUSec -p TasksMax --value | tr '\n' ' ')"
    systemctl stop rehome; pkill -x postgres`);
  expect(text).toBe("The server answers on 127.0.0.1:9000 and is ready.\n4096 0 \n");
});

test("a reload replaces the processes by the executable on the disk, with the settings of the file", async () => {
  const text = await inSystem(`
    exec 2>&1
    rehome service install --port 9000 >/dev/null
    printf 'REHOME_PROCESSES=2\nREHOME_BASE_URL=https://a.example/v1\n' >>/etc/default/rehome
    systemctl restart rehome
    main=$(systemctl show rehome -p MainPID --value)
    base() { curl -sS http://127.0.0.1:9000/docs/json | jq -r '.servers[0].url'; }
    workers() { cat /proc/$main/task/$main/children; }
    says() { journalctl -u rehome -o cat | grep -q "$1"; }
    until says '2 processes serve'; do sleep 0.1; done
    former=$(workers); base
    # An upgrade: another file, with other settings.
    cp /usr/local/bin/rehome /usr/local/bin/next; mv /usr/local/bin/next /usr/local/bin/rehome
    sed -i s/a.example/b.example/ /etc/default/rehome
    systemctl reload rehome
    until says 'The new processes serve'; do sleep 0.1; done
    until base | grep b.example; do sleep 0.1; done
    # A kept connection may go on for 80 s: the old ones are still there.
    for pid in $(workers); do
      case " $former " in *" $pid "*) ;; *) readlink /proc/$pid/exe; cut -d ' ' -f 4 /proc/$pid/stat | grep -c "^$main$";; esac
    done
    sed -i s/9000/9001/ /etc/default/rehome
    systemctl reload rehome
    until says 'port was changed, so nothing is reloaded'; do sleep 0.1; done
    systemctl is-active rehome; systemctl show rehome -p NRestarts --value
    time=$(date +%s); systemctl stop rehome; echo $(( $(date +%s) - time < 20 ))`);
  const exe = "/usr/local/bin/rehome\n1\n";
  const [a, b] = ["a", "b"].map((name) => `https://${name}.example/v1\n`);
  expect(text).toBe(`${a}${b}${exe}${exe}active\n0\n1\n`);
});
