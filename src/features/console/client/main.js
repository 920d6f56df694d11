/**
 * The console works without this script. With it, forms are sent and pages are fetched in place.
 * What is typed stays when the service cannot be reached, and the focus stays where it was.
 */
import { startAnimals } from "./animals.js";
import { startForms } from "./forms.js";
import { startKeyboard } from "./keyboard.js";
import { startCopying, startDoubleTaps } from "./pointer.js";
import { startPolling } from "./polling.js";
import { startVisits } from "./visit.js";

document.documentElement.classList.add("scripted");
startDoubleTaps();
startCopying();
startVisits();
startForms();
startAnimals();
startKeyboard();
startPolling();
