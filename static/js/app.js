// Imports the behaviours and binds each one; a page works without any of them.
import { bindTheme } from "./theme.js";
import { bindCopy } from "./copy.js";
import { bindTimes } from "./times.js";
import { bindMatrix } from "./matrix.js";
import { bindFilters } from "./filters.js";

for (const bind of [bindTheme, bindCopy, bindTimes, bindMatrix, bindFilters]) bind(document);
