// Learnings are retired and used again, each with its undo.
import { call, fragment, say } from "./api.js";

const place = document.getElementById("learnings");

/** use says whether a learning is in use, and renders the list anew. */
async function use(id, active) {
  await call("PATCH", `/api/learnings/${id}`, { active });
  place.innerHTML = await fragment(location.href);
}

place.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-learning]");
  if (!button) return;
  const id = button.dataset.learning;
  const active = button.dataset.active === "true";
  try {
    await use(id, !active);
    say(active ? "Retired: no session is told of it any more" : "In use again", () => use(id, active));
  } catch (error) {
    say(error.message);
  }
});
