// Runs before the first paint, so that a chosen theme never flashes. Everything else waits for app.js.
document.documentElement.classList.add("js");
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // storage may be closed to us; the system's theme holds
}
