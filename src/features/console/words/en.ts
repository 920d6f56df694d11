import { englishMessages } from "./list-messages.ts";

const animals = (shown: string, count: number) => `${shown} ${count === 1 ? "animal" : "animals"}`;

/** What the console says in English. Each translation is an object of the same shape. */
export const en = {
  fields: {
    readOnly: "Read-only: can read animals but not add them",
    grace: "Make a new secret. The old one stays valid for",
    sure: "Revoke for good. This cannot be undone",
    complete: "This file is the whole list: withdraw animals that are not in it",
    skipBad: "Import the good rows and leave out those with errors",
    listWins: "Use what the list says for these, too",
  },
  status: { available: "available", pending: "pending", sold: "adopted", none: "no status" },
  roles: { staff: "Staff", operator: "Operator" },
  layout: {
    signOutSure:
      "To come back you need a link: make one now for later, or ask an operator for one.",
    late: "The service has not answered yet. What you typed is still on this page. Wait, or check in another tab whether it was saved, and press again if not.",
  },
  join: {
    staff: "You are invited to keep the animals of this shelter up to date.",
    operator: "You are invited to run this catalogue: its animals, keys and people.",
    once: "This link works once. You stay signed in on this device for 30 days after each visit.",
    wrong:
      "This link does not work. It was used, is older than 7 days, or is incomplete. Ask for a new one.",
  },
  signedOut: {
    what: "Open your invitation link. If it was used before, ask for a new one.",
    waits: "What you typed is not lost. It waits for you: you see it again when you come in.",
    waited: "You typed this when your session had ended. It was not saved yet: send it again.",
  },
  animals: {
    listSays: (status: string) => `The list says: ${status}`,
    existing: (name: string, category: string) => `${name} (${category}) exists already.`,
    none: "No animals yet. Add the first one, or import a list.",
    countOf: (found: string, total: string) =>
      `${found} of ${total} ${total === "1" ? "animal" : "animals"}`,
    chooseFirst: "Tick animals first: the boxes are in front of their names.",
    stale: (actor: string, value: string) =>
      `${actor} has since changed this to “${value}”. Do it again if you still want to.`,
    mergeFirst: "Tick the two entries of one animal first.",
    mergeHint:
      "The one you keep takes over what it lacks. The other one disappears. You can undo this.",
    photos:
      "There are no photos here: rehome keeps names and statuses. Show photos on your website, by the number of the animal.",
  },
  legend: {
    undo: "You can undo each change for 90 days: press Undo right after it, or later under Recent changes.",
    seen: "Everybody sees the available and the pending animals on the public page.",
  },
  changes: {
    kept: (animals: string) => `Changed since then, and left as is: ${animals}.`,
    over: (actor: string) => `This replaced what ${actor} did:`,
    several: (names: string, more: string) => `${names} and ${more} more`,
    sure: (animals: string) =>
      `${animals} will be as before, except for what changed since then. This cannot be undone.`,
  },
  history: { did: { withdrawn: "withdrawn", removed: "removed", restored: "brought back" } },
  categories: {
    none: "No categories yet. Type a name when you add an animal, or here.",
    animals,
    mergeHint: "All its animals move to the other category, and this one is removed.",
    mergeSure: (from: string, into: string, animals: string) =>
      `${from} becomes part of ${into}: ${animals} in all, and ${from} is removed. You can undo this.`,
    merged: (from: string, into: string, animals: string) =>
      `${from} is part of ${into} now: ${animals} moved`,
  },
  import: {
    keptTitle: (count: string) => `${count} kept as people changed them`,
    keptAs: (own: string, listed: string) => `${own}; the list says ${listed}`,
    notDone: "Nothing was imported: the animals changed meanwhile. Choose the file again",
    mostMissing: (count: string, list: string) =>
      `More than half is missing: ${count} animals of ${list} are not in this file`,
    otherList:
      "These numbers belong to other animals here, so this seems to be another list. Give it a name of its own below.",
    dayLabel: "Nothing in the file tells which comes first in its dates",
    columnTitle: (column: string) => `What does the column ${column} mean?`,
    columnTakes: (records: string, available: string, meaning: string) =>
      `It says of ${records} of ${available} available animals: ${meaning}`,
    remembered: "Read as the last list with these columns",
    statuslessHint: "No column says it. Choose one status for all of them.",
    statusWords: (column: string) => `What do these words in ${column} mean?`,
    sourceHint: "Such as your shelter's. Keep it every week.",
    what: "Choose a file from your shelter's program or a spreadsheet: CSV, Excel or JSON. You see what would change before anything does.",
    busy: "Your last file is still being read. Wait until it is done.",
    leftOut: (reasons: string) => `Left out, as not for adoption: ${reasons}.`,
    bad: (shown: string, count: number) => `${shown} ${count === 1 ? "row" : "rows"}`,
    lines: (lines: string, count: number) => `${count === 1 ? "line" : "lines"} ${lines}`,
    note: (text: string, count: string, line: number, example: string) =>
      `${text} (${count}${line === 0 ? "" : `, first on line ${line}${example && `: ${example}`}`}).`,
    badStop: "Some rows have errors. Tick the box to import the others, or correct the file.",
    nothing: "Nothing in this file would change the catalogue.",
    kindHint: "If all animals of the list are of one kind, such as Cat.",
    kindMissing: "Choose the column of the category, or enter the category of all.",
    sameHint:
      "They have the name and category of an animal that is here. Ticked: it is the same animal, and is changed. Not ticked: another one is added.",
    partHint: "The file has several lists. Import one after the other.",
    mapHint: "Say which column holds what. The first rows show what is in them.",
    lookFirst: "This is what would change with your last choices. Nothing is imported yet.",
    completeBad:
      "A whole list must have no rows with errors and no damaged ids, and must not be one page of several: their animals would be withdrawn. Correct the file, or untick the box below.",
  },
  sources: {
    hint: "The service reads these lists by itself and imports what changed.",
    explain: "What do these words mean? Their animals are hidden until you say so.",
    heldText: (animals: string, names: string) =>
      `The list does not have ${animals} any more, more than half within a day: ${names}. They stay until you say so.`,
    heldOther: "The list was read again meanwhile, so nobody was withdrawn. Look at it again.",
    stale: (names: string) =>
      `Not read for a long time: ${names}. What you see of these lists may be out of date.`,
  },
  messages: englishMessages,
  keys: {
    secretInName: "A name must not contain a secret: every list shows it.",
    more: "For its usage, history and bans, use the command line:",
    planLine: (plan: string, minute: string, day: string) => `${plan}: ${minute}/min, ${day}/day`,
    once: "This is the only time that the secret is shown. Copy it now.",
    tell: "Give it to its owner in a safe way: anyone who has it can use the key.",
    states: { active: "active", banned: "banned", expired: "expired", revoked: "revoked" },
    accesses: { "read-write": "lists, gets and adds animals", "read-only": "read-only" },
  },
  health: {
    hint: (version: string) =>
      `What needs attention in rehome ${version}. The command rehome doctor says what to do about it.`,
    states: { ok: "OK", warn: "needs attention", fail: "urgent" },
    checks: {
      "data folder": ["Data folder", "The folder is missing, empty or a different one."],
      moved: ["Store", "The animals were moved to another place. Use that one."],
      start: ["Start", "The service could not start again with these files."],
      catalogue: ["Animals", "The file of the animals is damaged, locked or of another version."],
      limits: ["Limits", "The file of the limits is damaged, locked or of another version."],
      database: ["Database", "The database cannot be used as it is."],
      permissions: ["Permissions", "Others on this machine can read the data."],
      disk: ["Disk", "There is little room left. When it is full, nothing is saved."],
      clock: ["Clock", "The clock of this machine is wrong or not synchronized."],
      backup: ["Backups", "There is no recent, working backup. Without one, you can lose data."],
      sources: ["Followed lists", "A list is not up to date. Its animals may be gone by now."],
      certificate: ["Certificate", "The certificate has ended, ends soon, or cannot be read."],
      secret: ["Secrets", "Others on this machine can read a secret."],
      server: ["Service", "The service does not answer where its settings say."],
    } as Readonly<Record<string, readonly [title: string, trouble: string]>>,
  },
  people: {
    roleHint: "Staff see animals, import and categories. Operators see all.",
    taken: "There is a person with this name. Give them a new link, or choose another name.",
    removed: "This person was removed and signed out everywhere.",
    removeSure:
      "They are signed out everywhere at once, and their links no longer work. What they did stays. To let them in again, invite them again.",
    linkHint: "Send it, or let them scan it. It works once, within 7 days, and is shown only now.",
    onlyHere:
      "Only this computer can open this link. It works once, within 7 days, and is shown only now.",
  },
  errors: {
    name: "This name has characters that cannot be stored.",
    categoryAlike: (name: string) => `There is a category ${name}. Save again to make a new one.`,
    nameLong: (max: number) => `A name has at most ${max.toLocaleString("en")} characters.`,
    limit: "Type a whole number from 1 to 1,000,000,000.",
    expires: "Type a number and d, h, m or s, such as 90d or 24h, up to 36500d.",
  },
  failures: {
    title: "That did not work",
    start: "Go to the animals",
    notFound: "There is nothing here, or it is gone.",
    someGone:
      "Somebody removed one of these animals in the meantime, so nothing was changed. Choose again.",
    bothListed: "Both come from a list, which would bring the other one back.",
    forbidden: "Only operators may see this. Ask one of them.",
    removed: "You were removed and can no longer change anything.",
    failed: "Something went wrong here. It is in the service's log.",
    later: "Try again in a moment.",
    tooMany: "There were too many attempts from this address. Wait a minute.",
    origin: "This did not come from a page of this console, so nothing was done.",
    host: "The console does not respond under this name.",
    insecure: "This console does not accept plain HTTP from the public internet.",
    noUpload: "The form has no file.",
    tooLarge: "The file is larger than 16 MiB. Ask your operator to import it.",
    crowded: "Too many forms and files are on their way.",
    interrupted: "It was not sent completely. Try again.",
    uploadsFull: "Other people are importing lists. There is room again when they are done.",
    importTooLong: "Reading the file took more than a minute, so it was stopped.",
    importTooLarge: "Reading the file took too much memory, so it was stopped.",
    importGone: "Your file is not here any more, so nothing was imported. Choose it again.",
    importEnded: "Reading the file was stopped. Choose it again.",
    uploading: "You are still uploading another file.",
    formTooLarge: "The form is too large.",
    othersChange: "Somebody else made this change. Ask them, or an operator, to undo it.",
    other: (message: string) => message,
  },
};

export type Sentences = typeof en;
