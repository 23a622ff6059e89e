// The one script of the pages: keys, and forms that replace their row. Every page works without it.
"use strict";
(() => {
  const rows = () => [...document.querySelectorAll("[data-row]:not([hidden])")];
  const selected = () => document.querySelector("[data-row].selected");
  const notice = document.getElementById("notice");
  const help = document.getElementById("keys");
  let isGoing = false;

  function select(row) {
    const before = selected();
    if (before) before.classList.remove("selected");
    if (!row) return;
    row.classList.add("selected");
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function step(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(selected());
    select(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]);
  }

  function tell(text, tone, undo) {
    const line = document.createElement("p");
    line.className = `notice ${tone}`;
    line.textContent = text;
    if (undo) line.append(undoForm(undo));
    notice.replaceChildren(line);
  }

  function undoForm(undo) {
    const form = document.createElement("form");
    form.method = "post";
    form.action = undo.action;
    form.dataset.action = "undo";
    for (const [name, value] of Object.entries({ ...undo.fields, back: location.pathname + location.search })) {
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name, value });
      form.append(field);
    }
    const button = document.createElement("button");
    button.textContent = "Undo ";
    button.dataset.key = "u";
    const key = document.createElement("kbd");
    key.textContent = "u";
    button.append(key);
    form.append(button);
    return form;
  }

  function back(form) {
    if (form.elements.back) return;
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "back", value: location.pathname + location.search });
    form.append(field);
  }

  // A form in a row that has one decision: send it, cross the row out, and go on to the next row.
  async function send(form, row, submitter) {
    const next = rows()[rows().indexOf(row) + 1] || rows()[rows().indexOf(row) - 1];
    const body = new URLSearchParams(new FormData(form, submitter));
    row.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
      const said = await answer.json();
      if (!answer.ok) throw new Error([said.title, said.detail, said.hint].filter(Boolean).join(" "));
      tell(said.message, "good", said.undo);
      row.hidden = true;
      select(next);
      document.dispatchEvent(new CustomEvent("holdfast:decided", { detail: { row, form } }));
    } catch (error) {
      tell(error.message || "The server cannot be reached.", "bad");
    } finally {
      row.removeAttribute("aria-busy");
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    back(form);
    const row = form.closest("[data-row]");
    if (!row || form.dataset.plain !== undefined) return;
    event.preventDefault();
    if (!row.hasAttribute("aria-busy")) send(form, row, event.submitter);
  });

  function press(key) {
    const row = selected();
    const within = row ? [row] : [];
    for (const place of [...within, notice, document]) {
      for (const button of place.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)) {
        const own = button.closest("[data-row]");
        if (own && own !== row) continue;
        button.click();
        const drop = button.tagName === "SUMMARY" && button.parentElement;
        if (drop) drop.querySelector("form input:not([type=hidden]), form button").focus();
        return true;
      }
    }
    return false;
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const at = event.target;
    const drop = at.closest("details.drop[open]");
    if (drop && event.key === "Escape") {
      drop.open = false;
      drop.querySelector("summary").focus();
      return;
    }
    if (at.closest("input, textarea, select, dialog, [contenteditable]")) {
      if (event.key === "Escape" && at.closest("input, textarea, select")) at.blur();
      return;
    }
    if (isGoing) {
      isGoing = false;
      const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    const acts = {
      j: () => step(1), k: () => step(-1), g: () => { isGoing = true; }, "?": () => help && help.showModal(),
      "/": () => { const field = document.querySelector("main input[type=search], .find input"); if (field) { field.focus(); field.select(); } },
      Enter: () => { const link = !at.closest("a, button, summary") && selected() && selected().querySelector("a[href]"); if (link) link.click(); else return false; },
    };
    const act = acts[event.key];
    if (act ? act() !== false : press(event.key)) event.preventDefault();
  }
  document.addEventListener("keydown", onKey);

  for (const opener of document.querySelectorAll("[data-keys]")) {
    opener.hidden = false;
    opener.addEventListener("click", () => help.showModal());
  }
  document.addEventListener("click", (event) => {
    const row = event.target.closest("[data-row]");
    if (row && row !== selected() && !event.target.closest("a, button, input, select, textarea, summary")) select(row);
  });
})();
