/**
 * The command line on a machine with the service, under a systemd that runs: one store for all of
 * them.
 */
import { expect, test } from "bun:test";
import { copyAddress, inSystem as runInSystem } from "../../test/helpers/system.ts";

/** Runs a script in which `as` runs a command as the account of the service. */
const inSystem = (script: string) =>
  runInSystem(`as() { runuser -u rehome -- rehome "$@"; }\n${script}`);

const slowMs = 900_000;
/** What was printed below `== name`. */
const partOf = (text: string, name: string) => text.split(`== ${name}\n`)[1]?.split("== ")[0];

test(
  "commands find the service's store and settings, and work as its account alone",
  async () => {
    const text = await inSystem(`
      exec 2>&1
      rehome service install >/dev/null
      echo REHOME_PORT=9000 >>/etc/default/rehome
      systemctl restart rehome
      useradd --create-home kim
      echo "== root"
      as keys create --plan free --name website >/dev/null 2>&1
      stat -c '%U %n' /var/lib/rehome/*.db*
      as doctor | grep -E '^(warn|fail|ok) +(data folder|server)'
      rehome health
      rehome config | grep -E '^(port|data|bans) '
      rehome config --json | grep -c '"file": "/etc/default/rehome"'
      script -qec 'runuser -u rehome -- rehome keys list' /dev/null | head -1
      stat -c '%a %U:%G' /etc/default/rehome
      for command in 'keys list' doctor 'serve --port 9001' 'restore /tmp/none.db --yes'; do
        rehome $command || echo "exit $?"
      done
      echo "== an event has its author"
      SUDO_USER=kim as keys update website --plan pro
      as keys show website | grep -E ' (kim|root)  '
      echo "== kim"
      su kim -c 'rehome keys revoke "web site"' || echo "exit $?"
      chmod 644 /etc/default/rehome
      su kim -c 'rehome keys revoke "web site"' || echo "exit $?"
      su kim -c 'rehome config' | grep '^port'
      su kim -c 'rehome keys create --plan free --name own --data ~/own' >/dev/null 2>&1
      su kim -c 'rehome keys list --data ~/own' | wc -l
      echo "== a misspelt variable"
      echo REHOME_PROT=1 >>/etc/default/rehome
      as keys list || echo "exit $?"
      echo "== uninstalled"
      rehome service uninstall | grep -v ^Removed
      ls /etc/systemd/system | grep -c rehome || true
      curl -s http://127.0.0.1:9000/health || echo "nothing responds"
      ls /var/lib/rehome/rehome.db
      rehome service uninstall || echo "exit $?"`);
    const part = (name: string) => partOf(text, name);
    expect(part("root")).toBe(
      [
        ...["limits.db", "rehome.db"]
          .flatMap((name) => [name, `${name}-shm`, `${name}-wal`])
          .map((name) => `rehome /var/lib/rehome/${name}`),
        "ok    data folder  /var/lib/rehome (REHOME_DATA in /etc/default/rehome)",
        "ok    server       answers on 127.0.0.1:9000 and is ready",
        "The server answers on 127.0.0.1:9000 and is ready.",
        "port                  9000                     from /etc/default/rehome",
        "data                  /var/lib/rehome          from /etc/default/rehome",
        "bans                  on                       default",
        "3",
        "On the service of this machine: settings from /etc/default/rehome.\r",
        "640 root:rehome",
        ...["keys list", "doctor", "serve --port 9001", "restore /tmp/none.db --yes"].flatMap(
          (command) => [
            "Error: The service of this machine keeps its data in /var/lib/rehome, which belongs to the account rehome.",
            `Try: sudo -u rehome rehome ${command}`,
            "exit 1",
          ],
        ),
        "",
      ].join("\n"),
    );
    expect(part("an event has its author")).toMatch(/ {2}kim +update\n$/);
    expect(part("kim")).toBe(
      [
        "Error: The settings of this machine's service cannot be read: /etc/default/rehome: permission denied.",
        "Try: Run it as the account of the service, or name a data folder of your own with --data.",
        "exit 1",
        "Error: The service of this machine keeps its data in /var/lib/rehome, which belongs to the account rehome.",
        "Try: sudo -u rehome rehome keys revoke 'web site'",
        "exit 1",
        "port                  9000                     from /etc/default/rehome",
        "2",
        "",
      ].join("\n"),
    );
    expect(part("a misspelt variable")).toBe(
      [
        "Error: The variable REHOME_PROT in /etc/default/rehome is not a setting of rehome.",
        "Try: Name it REHOME_PORT.",
        "exit 2",
        "",
      ].join("\n"),
    );
    expect(part("uninstalled")).toBe(
      [
        "The service is stopped. Its data is still in /var/lib/rehome.",
        "To delete everything: sudo rm -r /var/lib/rehome /etc/default/rehome; sudo userdel rehome",
        "0",
        "nothing responds",
        "/var/lib/rehome/rehome.db",
        "Error: There is no unit of rehome in /etc/systemd/system.",
        "Try: If the package installed it: apt remove rehome",
        "exit 1",
        "",
      ].join("\n"),
    );
  },
  slowMs,
);

test(
  "an installation with --host and --port is reached from another machine, and has the right to its port",
  async () => {
    const text = await inSystem(`
      exec 2>&1
      ip netns add other; ip link set lan1 netns other
      ip netns exec other ip address add 198.51.100.8/24 dev lan1; ip netns exec other ip link set lan1 up
      echo "== install"
      rehome service install --host 0.0.0.0 --port 80
      grep -v '^#' /etc/default/rehome
      echo "== doctor"
      as doctor | grep -E '^\\S+ +server'
      echo "== other"
      ip netns exec other curl -sS http://${copyAddress}/health
      echo
      echo "== trial"
      systemctl stop rehome
      (rehome serve --data /tmp/trial --host 0.0.0.0 >/tmp/out 2>/dev/null & echo $! >/tmp/pid)
      rehome health --port 8080 --wait 60s >/dev/null
      sed -n 2,3p /tmp/out
      kill $(cat /tmp/pid)
      echo "== again"
      chmod 644 /etc/default/rehome
      rehome service install --host 127.0.0.1 --port 8080 | grep ^Removed
      grep -v '^#' /etc/default/rehome; stat -c %a /etc/default/rehome
      echo "== settings"
      systemctl stop rehome
      sed -i s/8080/9000/ /etc/default/rehome
      rehome service install --host 0.0.0.0 | grep -v '^Wrote'`);
    const part = (name: string) => partOf(text, name);
    expect(part("install")).toEndWith(
      [
        "Wrote /etc/systemd/system/rehome.service.d/low-port.conf",
        "Made the account rehome",
        "Wrote /etc/default/rehome",
        "The service is running and will start at boot. Its data is in /var/lib/rehome.",
        "Next: sudo -u rehome rehome keys create --plan free --name LABEL",
        "REHOME_HOST=0.0.0.0",
        "REHOME_PORT=80",
        "REHOME_BACKUP_TO=/var/lib/rehome/backups",
        "",
      ].join("\n"),
    );
    expect(part("doctor")).toBe("ok    server       answers on 127.0.0.1:80 and is ready\n");
    expect(part("other")).toBe('{"status":"ok"}\n');
    expect(part("trial")).toBe(
      ["  API   http://127.0.0.1:8080/v1", "  Docs  http://127.0.0.1:8080/docs", ""].join("\n"),
    );
    expect(part("again")).toBe(
      [
        "Removed /etc/systemd/system/rehome.service.d/low-port.conf",
        "REHOME_HOST=127.0.0.1",
        "REHOME_PORT=8080",
        "REHOME_BACKUP_TO=/var/lib/rehome/backups",
        "640",
        "",
      ].join("\n"),
    );
    expect(part("settings")).toBe(
      [
        "The service is running and will start at boot. Its data is in /var/lib/rehome.",
        "Next: sudo -u rehome rehome keys create --plan free --name LABEL",
        "",
      ].join("\n"),
    );
  },
  slowMs,
);

test(
  "a trial moves into the service, root's files are closed to its account, and a start that fails says where to look",
  async () => {
    const text = await inSystem(`
      exec 2>&1
      useradd --create-home kim
      su kim -c 'rehome keys create --plan free --name mine 2>/dev/null' >/tmp/key
      su kim -c 'rehome pets add --name Rex --category 1 --status available' >/dev/null
      rehome service install >/dev/null
      systemctl stop rehome
      echo "== copy"
      install -o rehome -g rehome -m 600 -t /var/lib/rehome /home/kim/.local/share/rehome/*.db
      systemctl start rehome
      curl -sS -H "Authorization: Bearer $(cat /tmp/key)" http://127.0.0.1:8080/v1/pets
      echo
      stat -c '%U' /var/lib/rehome/* | sort -u
      echo "== install"
      rehome service install --port 8080 >/dev/null
      systemctl stop rehome
      echo REHOME_STORE_TIMEOUT=soon >>/etc/default/rehome
      rehome service install 2>&1 >/dev/null | tail -1
      sed -i /STORE_TIMEOUT/d /etc/default/rehome
      echo "== files"
      cd /root; echo name >list.csv; install -m 600 list.csv /tmp/list.csv
      as keys create --plan free --name website >/dev/null 2>&1
      as backup /tmp/good.db >/dev/null; cp /tmp/good.db /root/
      for command in 'backup /root' 'backup /root/new.db' 'restore /root/good.db' 'pets import list.csv' 'pets import /tmp/list.csv'; do
        as $command || echo "exit $?"
      done`);
    const part = (name: string) => partOf(text, name);
    expect(part("copy")).toBe(
      ['[{"id":1,"name":"Rex","categoryId":1,"status":"available"}]', "rehome", ""].join("\n"),
    );
    expect(part("install")).toBe(
      "Try: journalctl -u rehome -o cat -n 20 shows why. Correct /etc/default/rehome, then: systemctl restart rehome\n",
    );
    const readable = "Copy it to a folder that this user can read, such as /tmp.";
    const input = "Name a file, or - for standard input.";
    const refused = (what: string, advice: string, exitCode: number) =>
      `Error: ${what}: permission denied.\nTry: ${advice}\nexit ${exitCode}\n`;
    expect(part("files")).toBe(
      refused("/root cannot be listed", "Name a folder that this user can read and write.", 1) +
        refused(
          "/root/new.db cannot be read",
          "Name a folder that this user can read and write.",
          1,
        ) +
        refused("The backup /root/good.db cannot be read", readable, 1) +
        refused("list.csv cannot be read", input, 2) +
        refused("/tmp/list.csv cannot be read", input, 2),
    );
  },
  slowMs,
);

test(
  "the service makes a backup by itself within its unit, and a command one of its catalogue, wherever that is",
  async () => {
    const text = await inSystem(`
      rehome service install >/dev/null
      as keys create --plan free --name website >/dev/null 2>&1
      timeout 60 sh -c 'until runuser -u rehome -- rehome doctor | grep -q "^ok    backup"; do sleep 0.1; done'
      echo "== by itself"
      stat -c '%U %a %n' /var/lib/rehome/backups/*
      as backup verify /var/lib/rehome/backups/*.db | head -1
      as doctor | grep '^ok    backup'
      echo "== elsewhere"
      install -d -o rehome -m 700 /srv/rehome
      echo REHOME_DATA=/srv/rehome >>/etc/default/rehome
      as doctor | grep -A 1 '^fail  unit'
      mkdir -p /etc/systemd/system/rehome.service.d
      echo '[Service]\\nReadWritePaths=/srv/rehome' >/etc/systemd/system/rehome.service.d/own.conf
      systemctl daemon-reload; systemctl restart rehome
      as doctor | grep '^fail  unit' || true
      as pets add --name Rex --category 1 >/dev/null
      as backup verify "$(as backup --json | jq -r .file)"
      as doctor | grep -o '^ok    backup .* KiB, written to /var/lib/rehome/backups/'`);
    const file = "/var/lib/rehome/backups/rehome-[\\da-f]{8}-\\d{8}T\\d{6}Z\\.db";
    expect(partOf(text, "by itself")).toMatch(
      new RegExp(
        `^rehome 600 ${file}\n${file} can be restored: .*\nok    backup .* written to ${file}\n$`,
      ),
    );
    expect(partOf(text, "elsewhere")?.match(/^fail  unit +.*$/gm)).toEqual([
      expect.stringMatching(/rehome\.service may not write to \/srv\/rehome$/),
    ]);
    expect(partOf(text, "elsewhere")).toContain("\n  1 animal, 0 keys\n");
    expect(partOf(text, "elsewhere")).toContain("written to /var/lib/rehome/backups/");
  },
  slowMs,
);
