// Adds a record or a learning that the reader writes.
import { call, lock, say } from "./api.js";

const form = document.getElementById("add");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const said = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
    const { id } = await call("POST", form.dataset.path, { ...said, origin: "user" });
    location.assign(form.dataset.to + id);
  } catch (error) {
    say(error.message);
  }
});

lock();
