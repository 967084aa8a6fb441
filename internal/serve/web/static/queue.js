// The queue: retries, and what the doctor finds, which takes a second or two.
import { call, fragment, lock, say } from "./api.js";

const queue = document.getElementById("queue");
const doctor = document.getElementById("doctor");

/** examine has the doctor look and shows what it finds. */
async function examine() {
  doctor.setAttribute("aria-busy", "true");
  const waiting = document.createElement("p");
  waiting.className = "hint";
  waiting.textContent = "Looking …";
  doctor.replaceChildren(waiting);
  try {
    doctor.innerHTML = await fragment("/doctor");
  } catch {
    doctor.innerHTML = '<div class="empty" role="alert"><p>The worker does not answer.</p><p class="hint"><code>claude-mem doctor</code> works without it.</p></div>';
  }
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = "Check again";
  again.addEventListener("click", examine);
  doctor.append(again);
  doctor.setAttribute("aria-busy", "false");
}

queue.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-retry]");
  if (!button) return;
  button.disabled = true;
  try {
    const key = button.dataset.retry;
    const done = await call("POST", "/api/queue/retry", key ? { keys: [key] } : {});
    queue.innerHTML = await fragment(location.href);
    lock();
    say(`${done.revived} put back in the queue` + (done.unread ? `, ${done.unread} will be shown to the model` : ""));
  } catch (error) {
    button.disabled = false;
    say(error.message);
  }
});

lock();
examine();
