// [data-theme-toggle]: system -> the other one -> back. The choice is kept in this browser only.
export function bindTheme(root) {
  root.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const html = root.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (html.dataset.theme ?? system) === "dark" ? "light" : "dark";
    html.dataset.theme = next;
    try {
      if (next === system) localStorage.removeItem("theme");
      else localStorage.setItem("theme", next);
    } catch {
      // the choice then holds for this page only
    }
  });
}
