/** The command line on a machine with the service, under a systemd that runs: one store for all of them. */
import { expect, test } from "bun:test";
import { inSystem } from "../helpers/system.ts";

const slowMs = 120_000;

test(
  "commands find the service's store and settings, work as its account, and say so",
  async () => {
    const text = await inSystem(`
      exec 2>&1
      rehome service install >/dev/null
      echo REHOME_PORT=9000 >>/etc/default/rehome
      systemctl restart rehome
      useradd --create-home kim
      echo "== root"
      rehome keys create --plan free --name website >/dev/null 2>&1
      stat -c '%U %n' /var/lib/rehome/*
      rehome doctor | grep -E '^(warn|fail|ok) +(data folder|server)'
      rehome health
      rehome config | grep -E '^(port|data|bans) '
      rehome config --json | grep -c '"file": "/etc/default/rehome"'
      rehome __complete -- keys show key_ | wc -l
      script -qec 'rehome keys list' /dev/null | head -1
      echo "== an event has its author"
      SUDO_USER=kim rehome keys update website --plan pro
      rehome keys show website | grep -E ' (kim|root)  '
      echo "== kim"
      su kim -c 'rehome keys revoke "web site"' || echo "exit $?"
      su kim -c 'rehome config' | grep '^port'
      su kim -c 'rehome keys create --plan free --name own --data ~/own' >/dev/null 2>&1
      su kim -c 'rehome keys list --data ~/own' | wc -l
      echo "== a misspelt variable"
      echo REHOME_PROT=1 >>/etc/default/rehome
      rehome keys list || echo "exit $?"`);
    const part = (name: string) => text.split(`== ${name}\n`)[1]?.split("== ")[0];
    expect(part("root")).toBe(
      [
        ...["limits.db", "rehome.db"]
          .flatMap((name) => [name, `${name}-shm`, `${name}-wal`])
          .map((name) => `rehome /var/lib/rehome/${name}`),
        "ok    data folder  /var/lib/rehome (REHOME_DATA in /etc/systemd/system/rehome.service)",
        "ok    server       answers on 127.0.0.1:9000 and is ready",
        "The server answers on 127.0.0.1:9000 and is ready.",
        "port                  9000             from /etc/default/rehome",
        "data                  /var/lib/rehome  from /etc/systemd/system/rehome.service",
        "bans                  on               default",
        "1",
        "1",
        "On the service of this machine: settings from /etc/default/rehome, as rehome.\r",
        "",
      ].join("\n"),
    );
    expect(part("an event has its author")).toMatch(/root {2}create\n.* kim {3}update\n$/s);
    expect(part("kim")).toBe(
      [
        "Error: The service of this machine keeps its data in /var/lib/rehome, which is for the account rehome.",
        "Try: sudo rehome keys revoke 'web site'",
        "exit 1",
        "port                  9000             from /etc/default/rehome",
        "2",
        "",
      ].join("\n"),
    );
    expect(part("a misspelt variable")).toBe(
      [
        "Error: The variable REHOME_PROT in /etc/default/rehome is no setting of rehome.",
        "Try: Name it REHOME_PORT.",
        "exit 2",
        "",
      ].join("\n"),
    );
  },
  slowMs,
);
