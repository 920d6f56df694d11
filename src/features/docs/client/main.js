/** The page's script: sends requests with the reader's key, and shows their responses. */
import { startCode } from "./code.js";
import { startContents } from "./contents.js";
import { startCopying } from "./copy.js";
import { whenSeen } from "./elements.js";
import { colourBlock } from "./json.js";
import { startKey } from "./key.js";
import { startSearch } from "./search.js";
import { startForm, startServers } from "./send.js";
import { startTheme } from "./theme.js";

for (const form of document.querySelectorAll("form.try")) startForm(form);
startTheme();
startKey();
startServers();
startCode();
startCopying();
startSearch();
startContents();
whenSeen(document.querySelectorAll("pre.json"), colourBlock);
