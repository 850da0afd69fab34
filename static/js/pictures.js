// Images that changed: how far the new one is drawn over the old one.
export function bindPictures(sheets) {
  sheets.addEventListener("input", (event) => {
    if (!event.target.matches("[data-swipe]")) return;
    const box = event.target.closest("[data-pictures]");
    box.style.setProperty("--seen", `${event.target.value}%`);
  });
}
