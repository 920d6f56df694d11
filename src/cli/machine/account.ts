import { accountNamed, type Account } from "../../storage/account.ts";

/**
 * Makes this process work as `account` for good: its user, its group and the groups that it is a
 * member of. Only root can, and what root opened before stays open.
 */
export function become({ name, uid, gid }: Account): void {
  // Bun's types lack it.
  const { initgroups } = process as { initgroups?: (user: string, group: number) => void };
  const hasName = accountNamed(name) !== undefined;
  if (hasName && initgroups !== undefined) initgroups(name, gid);
  else process.setgroups?.([gid]);
  process.setgid?.(gid);
  process.setuid?.(uid);
}
