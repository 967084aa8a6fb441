// Follows the logs: the page's fragment again every two seconds, while somebody looks.
import { fragment } from "./api.js";

const results = document.getElementById("results");
const live = document.getElementById("live");
const button = document.getElementById("follow");
let timer = 0;

async function update() {
  if (document.hidden) return;
  try {
    results.innerHTML = await fragment(location.href);
    live.hidden = true;
  } catch {
    live.textContent = "The worker does not answer – trying again";
    live.hidden = false;
  }
}

/** follow begins or ends to follow, and keeps that in the address. */
function follow(on) {
  button.setAttribute("aria-pressed", on);
  clearInterval(timer);
  if (on) {
    timer = setInterval(update, 2000);
    update();
  }
  const url = new URL(location.href);
  url.searchParams.delete("follow");
  if (on) url.searchParams.set("follow", "1");
  history.replaceState(null, "", url);
}

if (button) {
  button.hidden = false;
  button.addEventListener("click", () => follow(button.getAttribute("aria-pressed") !== "true"));
  if (new URLSearchParams(location.search).has("follow")) follow(true);
}
