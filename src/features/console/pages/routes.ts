import { redirect } from "../web/answer.ts";
import type { Handler, Route } from "../web/router.ts";
import {
  addAnimal,
  animalPage,
  changeSeveral,
  markAnimal,
  newAnimalPage,
  removeAnimal,
  saveAnimal,
} from "./animal.ts";
import { animalsPage } from "./animals.ts";
import {
  addCategory,
  categoriesPage,
  categoryPage,
  mergeCategories,
  renameCategory,
} from "./categories.ts";
import { undoChange } from "./change-notice.ts";
import { changePage, changesPage } from "./changes.ts";
import { exportFile, exportPage } from "./export.ts";
import { downloadBackup, healthPage, makeBackup } from "./health.ts";
import { helpPage } from "./help.ts";
import {
  downloadRejects,
  dropFile,
  examineFile,
  importPage,
  runImport,
  uploadFile,
} from "./import.ts";
import { banKey, keyPage, revokeKey, rotateKey, unbanKey, updateKey } from "./key.ts";
import { createKey, keysPage } from "./keys.ts";
import { inviteAgain, invitePerson, peoplePage, removePerson } from "./people.ts";
import { usagePage } from "./usage.ts";

const get = (path: string, role: Route["role"], handle: Handler): Route => ({
  method: "GET",
  path,
  role,
  handle,
});
const post = (path: string, role: Route["role"], handle: Handler): Route => ({
  method: "POST",
  path,
  role,
  handle,
});

/** Every page and change for people who are signed in. Of two for a path the first counts. */
export const routes: readonly Route[] = [
  get("/", "staff", () => redirect("/animals")),
  get("/help", "staff", helpPage),

  get("/animals", "staff", animalsPage),
  post("/animals", "staff", addAnimal),
  get("/animals/new", "staff", newAnimalPage),
  post("/animals/several", "staff", changeSeveral),
  get("/animals/:id", "staff", animalPage),
  post("/animals/:id", "staff", saveAnimal),
  post("/animals/:id/status", "staff", markAnimal),
  post("/animals/:id/remove", "staff", removeAnimal),
  get("/changes", "staff", changesPage),
  get("/changes/:id", "staff", changePage),
  post("/changes/:id/undo", "staff", undoChange),

  get("/categories", "staff", categoriesPage),
  post("/categories", "staff", addCategory),
  get("/categories/:id", "staff", categoryPage),
  post("/categories/:id", "staff", renameCategory),
  post("/categories/:id/merge", "staff", mergeCategories),

  get("/export", "staff", exportPage),
  get("/export/:format", "staff", exportFile),

  get("/import", "staff", importPage),
  { method: "POST", path: "/import", role: "staff", isUpload: true, handle: uploadFile },
  post("/import/examine", "staff", examineFile),
  post("/import/run", "staff", runImport),
  post("/import/drop", "staff", dropFile),
  get("/import/rejects", "staff", downloadRejects),

  get("/keys", "operator", keysPage),
  post("/keys", "operator", createKey),
  get("/keys/:id", "operator", keyPage),
  post("/keys/:id", "operator", updateKey),
  post("/keys/:id/rotate", "operator", rotateKey),
  post("/keys/:id/ban", "operator", banKey),
  post("/keys/:id/unban", "operator", unbanKey),
  post("/keys/:id/revoke", "operator", revokeKey),

  get("/usage", "operator", usagePage),

  get("/health", "operator", healthPage),
  post("/health/backup", "operator", makeBackup),
  get("/health/backup/:name", "operator", downloadBackup),

  get("/people", "operator", peoplePage),
  post("/people", "operator", invitePerson),
  post("/people/:id/invite", "operator", inviteAgain),
  post("/people/:id/remove", "operator", removePerson),
];
