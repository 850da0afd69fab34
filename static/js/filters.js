// form[data-filter]: send as soon as a choice is made; empty fields stay out of the address.
export function bindFilters(root) {
  for (const form of root.querySelectorAll("form[data-filter]")) {
    form.addEventListener("change", () => form.requestSubmit());
    form.addEventListener("formdata", ({ formData }) => {
      for (const [key, value] of [...formData]) if (value === "") formData.delete(key);
    });
  }
}
