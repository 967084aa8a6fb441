// Calls of the API that change something, and their undo.

const token = document.querySelector("meta[name=page-token]")?.content ?? "";

/** writable says whether this page may change anything. */
export const writable = token !== "";

/** why says why a page may not. */
export const why = "Read only: run claude-mem open to make changes";

/** lock disables the controls of a page that may only read, with the reason. */
export function lock() {
  if (writable) return;
  for (const control of document.querySelectorAll("[data-do], [data-forget], [data-retry], [data-writes]")) {
    control.disabled = true;
    control.title = why;
  }
}

/** call sends a change to the API and returns its answer; it throws an Error with the API's
 * message and hint. */
export async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: { "Content-Type": "application/json", "X-Claude-Mem-Page": token },
    body: method === "DELETE" ? undefined : JSON.stringify(body ?? {}),
  });
  const answer = await response.json();
  if (!response.ok) {
    const { message, hint } = answer.error ?? {};
    throw new Error([message ?? `status ${response.status}`, hint].filter(Boolean).join(". "));
  }
  return answer;
}

const toast = document.getElementById("toast");
let inverse = null;
let hiding = 0;

/** say shows a message, for ten seconds, with a button that calls undoing. */
export function say(message, undoing = null) {
  inverse = undoing;
  toast.replaceChildren(message);
  if (undoing) {
    const button = document.createElement("button");
    button.textContent = "Undo";
    button.addEventListener("click", undo);
    toast.append(button);
  }
  toast.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { toast.hidden = true; }, 10_000);
}

/** undo calls the inverse of the last change, once. */
export async function undo() {
  const back = inverse;
  if (!back) return;
  inverse = null;
  try {
    await back();
    say("Undone");
  } catch (error) {
    say(error.message);
  }
}

/** fragment returns a part of the page at url, as the server renders it. If it is this page, the
 * link to its JSON follows. */
export async function fragment(url, signal) {
  const address = new URL(url, location.href);
  address.searchParams.set("fragment", "1");
  const response = await fetch(address, { signal });
  const json = response.headers.get("Link")?.match(/<([^>]*)>/)?.[1];
  const link = document.getElementById("json");
  if (address.pathname === location.pathname && json) {
    link.href = json;
    link.hidden = false;
  }
  return response.text();
}
