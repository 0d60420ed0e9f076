// The form, if the page comes from a server.

const submitForm = document.querySelector("#submit form");
if (submitForm) {
  const file = submitForm.elements.predictions;
  file.addEventListener("change", () => {
    // The server would cut the connection, and the typed text would be lost.
    const limit = Number(file.dataset.limit);
    const isLarge = file.files.length > 0 && file.files[0].size > limit;
    file.setCustomValidity(isLarge ? `This file is larger than ${limit.toLocaleString("en")} bytes.` : "");
    file.reportValidity();
  });
  submitForm.addEventListener("submit", () => {
    submitForm.querySelector("[role=status]").textContent = "Validating and scoring …";
  });
}
