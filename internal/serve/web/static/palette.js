// Ctrl-K: finds a page, a project, a setting or a command by its name.

const dialog = document.getElementById("palette");
const field = dialog.querySelector("input");
const list = dialog.querySelector("ul");
const most = 12;
let entries = null;
let shown = [];
let at = 0;

/** page returns an entry that leads to a page. */
const page = (kind, name, href, about = "") => ({ kind, name, about, run: () => location.assign(href) });

/** button returns an entry that presses a button of the page. */
const button = (b) => ({ kind: "command", name: b.getAttribute("aria-label") ?? b.firstChild.textContent.trim(), about: "", run: () => b.click() });

/** ask returns what the API answers, an empty object if it does not. */
async function ask(path) {
  try {
    const response = await fetch(path);
    return response.ok ? await response.json() : {};
  } catch {
    return {};
  }
}

/** load returns all entries. */
async function load() {
  const [projects, settings] = await Promise.all([ask("/api/projects?brief=1&limit=100"), ask("/api/settings")]);
  const token = (value) => /\s/.test(value) ? `"${value}"` : value;
  return [
    ...[...document.querySelectorAll("nav[aria-label=Pages] a")].map((a) => page("page", a.textContent, a.href)),
    page("command", "Add a record", "/add"), page("command", "Add a learning", "/add?kind=learning"),
    ...[...document.querySelectorAll("main .actions button:enabled, #choose:not([hidden]), #theme, #help-button")].map(button),
    ...(projects.results ?? []).map((p) => page("project", p.project, `/?q=${encodeURIComponent(`project:${token(p.project)}`)}`, p.project_path)),
    ...(settings.settings ?? []).map((s) => page("setting", s.key.replace("CLAUDE_MEM_", ""), `/settings#${s.key.replace("CLAUDE_MEM_", "")}`, s.help)),
  ];
}

/** find returns the entries that have all words of a text, those first whose name begins with it. */
function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (e) => {
    const name = e.name.toLowerCase();
    if (name.startsWith(text.toLowerCase())) return 0;
    return words.every((w) => name.includes(w)) ? 1 : 2;
  };
  const found = (entries ?? []).filter((e) => words.every((w) => `${e.kind} ${e.name} ${e.about}`.toLowerCase().includes(w)))
    .sort((a, b) => words.length && rank(a) - rank(b)).slice(0, most);
  const record = text.match(/^(#|S)?(\d+)$/i);
  if (record) found.unshift(/s/i.test(record[1] ?? "") ? page("session", `S${record[2]}`, `/session/${record[2]}`) : page("record", `#${record[2]}`, `/observation/${record[2]}`));
  if (text && !record) found.push(page("search", text, `/search?q=${encodeURIComponent(text)}`));
  return found;
}

/** point marks an entry as the one that Enter takes. */
function point(to) {
  at = (to + shown.length) % Math.max(1, shown.length);
  for (const [i, item] of [...list.children].entries()) item.setAttribute("aria-selected", i === at);
  field.setAttribute("aria-activedescendant", list.children[at]?.id ?? "");
  list.children[at]?.scrollIntoView({ block: "nearest" });
}

/** show lists the entries for what is typed. */
function show() {
  shown = find(field.value.trim());
  list.replaceChildren(...shown.map((e, i) => {
    const item = document.createElement("li");
    item.id = `palette-${i}`;
    item.setAttribute("role", "option");
    const kind = document.createElement("small");
    kind.textContent = e.kind;
    const name = document.createElement("bdi");
    name.textContent = e.name;
    item.append(name, kind);
    if (e.about) item.title = e.about;
    item.addEventListener("click", () => { take(i); });
    return item;
  }));
  point(0);
}

/** take closes the dialog and does what an entry says. */
function take(i) {
  dialog.close();
  shown[i]?.run();
}

field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
  const keys = { ArrowDown: () => point(at + 1), ArrowUp: () => point(at - 1), Enter: () => take(at) };
  if (event.isComposing || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

/** open shows the palette; what it offers is read anew each time. */
export async function open() {
  if (document.querySelector("dialog[open]")) return;
  field.value = "";
  dialog.showModal();
  show();
  entries = await load();
  show();
}
