// form[data-filter]: send as soon as a choice is made; empty fields stay out of the address.
export function bindFilters(root) {
  const filter = (event) => event.target.closest?.("form[data-filter]");
  root.addEventListener("change", (event) => filter(event)?.requestSubmit());
  root.addEventListener("formdata", (event) => {
    if (!filter(event)) return;
    for (const [key, value] of [...event.formData]) if (value === "") event.formData.delete(key);
  });
}
