// Erases a record or a session for good: `claude-mem forget`, which stops the worker that
// serves this page and starts it again.
import { call, lock, say } from "./api.js";

const path = "/api/admin/forget";

/** limit is how long the page waits for an erasure to end, in milliseconds. */
const limit = 5 * 60_000;

/** note shows a message in place of the record. */
function note(heading, ...lines) {
  const main = document.getElementById("main");
  const box = document.createElement("div");
  box.className = "empty";
  box.setAttribute("role", "status");
  const title = document.createElement("h1");
  title.textContent = heading;
  box.append(title);
  for (const line of lines.filter(Boolean)) {
    const p = document.createElement("p");
    p.className = "hint";
    p.append(line);
    box.append(p);
  }
  main.replaceChildren(box);
}

/** link returns a link to a page. */
function link(href, text) {
  const a = document.createElement("a");
  a.href = href;
  a.textContent = text;
  return a;
}

/** ended asks until the erasure that began at a time has ended. The worker is away meanwhile. */
async function ended(askedAt) {
  for (const until = Date.now() + limit; Date.now() < until;) {
    await new Promise((go) => { setTimeout(go, 500); });
    try {
      const response = await fetch(path);
      const answer = await response.json();
      if (response.ok && answer.asked_at_epoch === askedAt && answer.state !== "running") return answer;
    } catch { /* no worker yet */ }
  }
  return { state: "unknown" };
}

/** forget erases what a body names, and says how that goes. */
async function forget(name, body) {
  const begun = await call("POST", path, body);
  note(`Forgetting ${name} …`, "The worker stops meanwhile and comes back. You may leave this page.");
  const answer = await ended(begun.asked_at_epoch);
  switch (answer.state) {
    case "done":
      note(`${name} is forgotten`, ...(answer.left ?? []).map((left) => `Not erased: ${left}`), link("/", "To the feed"));
      break;
    case "failed":
      note(`${name} could not be forgotten`, answer.message, answer.hint, link(location.href, "Back to it"));
      break;
    default:
      note(`It is not known whether ${name} was forgotten`, "The worker has not said so in five minutes. In a terminal, claude-mem worker start starts it.", link(location.href, "Look again"));
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-forget]");
  if (!button) return;
  const dialog = document.getElementById("forget");
  dialog.returnValue = "cancel";
  dialog.addEventListener("close", async () => {
    if (dialog.returnValue !== "forget") return;
    try {
      await forget(button.dataset.name, { [button.dataset.forget]: [Number(button.dataset.id)] });
    } catch (error) {
      say(error.message);
    }
  }, { once: true });
  dialog.showModal();
});

lock();
