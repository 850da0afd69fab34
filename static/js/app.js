// Imports the behaviours and binds each one; a page works without any of them.

import { bindCopy } from "./copy.js";
import { bindFilters } from "./filters.js";
import { bindMatrix } from "./matrix.js";
import { bindPalette } from "./palette.js";
import { bindSteady } from "./steady.js";
import { bindTheme } from "./theme.js";
import { bindTimes } from "./times.js";

for (const bind of [bindTheme, bindCopy, bindTimes, bindMatrix, bindFilters, bindPalette, bindSteady]) bind(document);
document.addEventListener("htmx:after:swap", () => bindTimes(document)); // parts of a running run come with times anew
