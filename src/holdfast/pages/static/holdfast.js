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

  function tell(text, tone, canUndo) {
    const line = document.createElement("p");
    line.className = `notice ${tone}`;
    line.append(text);
    if (canUndo) {
      const button = document.createElement("button");
      button.append("Undo ", Object.assign(document.createElement("kbd"), { textContent: "u" }));
      button.dataset.key = "u";
      button.addEventListener("click", takeBack);
      line.append(button);
    }
    notice.replaceChildren(line);
  }

  function back(form) {
    if (form.elements.back) return;
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: "back", value: location.pathname + location.search });
    form.append(field);
  }

  async function post(address, body) {
    const answer = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" } });
    const said = await answer.json();
    if (!answer.ok) throw new Error([said.title && `${said.title}.`, said.detail, said.hint].filter(Boolean).join(" "));
    return said;
  }

  // Decisions: the rows disappear and the next one is selected at once; the requests follow one by one, in order.
  const jobs = [];
  const decisions = []; // those that were made, the newest last; Undo takes them back
  let isWorking = false;

  async function work() {
    if (isWorking) return;
    isWorking = true;
    while (jobs.length) await jobs.shift()();
    isWorking = false;
    fill();
  }

  function show(row, reason) {
    row.hidden = false;
    row.classList.remove("marked");
    row.querySelectorAll(".failed").forEach((line) => line.remove());
    if (reason) row.append(Object.assign(document.createElement("p"), { className: "failed", textContent: reason }));
    if (!selected()) row.classList.add("selected");
    count(1);
  }

  function count(by) {
    for (const left of document.querySelectorAll("[data-left]")) {
      left.dataset.left = Number(left.dataset.left) + by;
      left.textContent = Number(left.dataset.left).toLocaleString("en");
    }
    for (const done of document.querySelectorAll("[data-decided]")) {
      done.dataset.decided = Number(done.dataset.decided) - by;
      done.hidden = done.dataset.decided === "0";
      done.querySelector("span").textContent = done.dataset.decided;
    }
    const empty = document.querySelector("[data-empty]");
    if (empty) empty.hidden = rows().length > 0 || Boolean(document.querySelector(".more a[rel=next]"));
  }

  // `pairs`: a row and the button that was pressed in it, of one decision about all of them.
  function decide(pairs) {
    const all = rows();
    const at = all.indexOf(pairs[pairs.length - 1][0]);
    const decision = { steps: [] };
    const gone = new Set(pairs.map(([row]) => row));
    for (const [row, button] of pairs) {
      const form = button.form;
      back(form);
      const body = new URLSearchParams(new FormData(form, button));
      // rows about a lesson that this one takes out of use have nothing to decide any more
      const closed = new Set((form.dataset.closes || "").split(" ").filter(Boolean));
      const moot = all.filter((other) => !gone.has(other) && (other.dataset.lessons || "").split(" ").some((id) => closed.has(id)));
      for (const each of [row, ...moot]) {
        gone.add(each);
        each.hidden = true;
        each.classList.remove("marked");
        count(-1);
      }
      jobs.push(async () => {
        try {
          const said = await post(form.action, body);
          decision.steps.push({ rows: [row, ...moot], undo: said.undo });
          decision.message = pairs.length > 1 ? `${decision.steps.length} decided, the last one: ${said.message}` : said.message;
          if (decision.steps.length === 1) decisions.push(decision);
          tell(decision.message, "good", decisions.length > 0);
          document.dispatchEvent(new CustomEvent("holdfast:decided", { detail: { row, form } }));
        } catch (error) {
          const reason = error.message || "The server cannot be reached.";
          show(row, reason);
          moot.forEach((each) => show(each));
          tell(reason, "bad", decisions.length > 0);
        }
      });
    }
    const isLeft = (row) => !gone.has(row);
    select(all.slice(at + 1).find(isLeft) || all.slice(0, at).reverse().find(isLeft));
    work();
    fill();
  }

  function takeBack() {
    jobs.push(async () => {
      const decision = decisions.pop();
      if (!decision) return;
      try {
        while (decision.steps.length) {
          const { rows: decided, undo } = decision.steps[decision.steps.length - 1];
          if (!undo) throw new Error("This cannot be taken back here.");
          await post(undo.action, new URLSearchParams(undo.fields));
          decision.steps.pop();
          decided.forEach((each) => show(each));
          select(decided[0]);
        }
        tell(`Taken back: ${decision.message}`, "good", decisions.length > 0);
      } catch (error) {
        if (decision.steps.length && decision.steps[0].undo) decisions.push(decision);
        tell(error.message || "The server cannot be reached.", "bad", decisions.length > 0);
      }
    });
    work();
  }

  // The next rows are fetched before a list runs out, and a list that was made in haste is completed.
  let isFilling = false;

  async function fill() {
    const list = document.querySelector("[data-fill]");
    const hasty = document.querySelector("[data-compare]");
    const more = document.querySelector(".more a[rel=next]");
    const address = hasty ? hasty.dataset.compare : more && rows().length < 6 ? more.href : "";
    if (!list || !address || isFilling) return;
    isFilling = true;
    try {
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.ok) return;
      const known = new Set([...list.children].map((row) => row.id));
      const isUntouched = hasty && !decisions.length && !jobs.length && !rows().some((row) => row.classList.contains("marked"));
      if (isUntouched) list.replaceChildren();
      for (const row of page.querySelectorAll("[data-fill] > *")) {
        if (isUntouched || !known.has(row.id)) list.append(document.adoptNode(row));
      }
      for (const name of ["[data-left]", ".choices"]) {
        const [old, fresh] = [document.querySelector(name), page.querySelector(name)];
        if (hasty && old && fresh) old.replaceWith(document.adoptNode(fresh));
      }
      if (hasty) hasty.remove();
      const next = page.querySelector(".more");
      if (more) more.closest(".more").remove();
      if (next) list.after(document.adoptNode(next));
      count(0);
      if (!selected()) begin();
    } catch {
      // the link to the next page is still there
    } finally {
      isFilling = false;
    }
  }

  function begin() {
    const first = document.querySelector("[data-first] [data-row]:not([hidden])");
    if (first) first.classList.add("selected");
  }

  function mark(by) {
    const row = selected() || rows()[0];
    if (!row) return;
    row.classList.add("marked");
    select(row);
    step(by);
    const marked = document.querySelectorAll("[data-row].marked:not([hidden])").length;
    tell(`${marked} marked. A key of a verdict decides them together.`, "", false);
  }

  function unmark() {
    document.querySelectorAll("[data-row].marked").forEach((row) => row.classList.remove("marked"));
    notice.replaceChildren();
  }

  // The button that a key presses in a row; links, such as Edit, are no decisions.
  const buttonFor = (row, key) => row.querySelector(`form[method=post]:not([data-plain]) button[data-key="${CSS.escape(key)}"]`);

  function decideMarked(key) {
    const marked = rows().filter((row) => row.classList.contains("marked"));
    if (!marked.length) return false;
    const pairs = marked.map((row) => [row, buttonFor(row, key)]).filter(([, button]) => button);
    if (!pairs.length) return false;
    decide(pairs);
    return true;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    back(form);
    const row = form.closest("[data-row]");
    if (!row || form.dataset.plain !== undefined) return;
    event.preventDefault();
    decide([[row, event.submitter || form.querySelector("button")]]);
  });

  function press(key) {
    if (key === "u" && (jobs.length || decisions.length)) {
      takeBack();
      return true;
    }
    if (decideMarked(key)) return true;
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

  // Who speaks to the browser, or uses another program's keys, can switch ours off (WCAG 2.1.4).
  const isOff = () => localStorage.getItem("holdfast-keys") === "off";
  const switchKeys = document.getElementById("keys-on");

  function onKey(event) {
    if (isOff() || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
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
      j: () => step(1), k: () => step(-1), J: () => mark(1), K: () => mark(-1), Escape: unmark, o: () => { for (const fold of selected()?.querySelectorAll("details") || []) fold.open = !fold.open; selected()?.scrollIntoView({ block: "nearest" }); }, g: () => { isGoing = true; setTimeout(() => { isGoing = false; }, 2000); }, "?": () => help && help.showModal(),
      "/": () => { const field = document.querySelector("main input[type=search], .find input"); if (field) { field.focus(); field.select(); } },
      Enter: () => { const link = !at.closest("a, button, summary") && selected() && selected().querySelector("a[href]"); if (link) link.click(); else return false; },
    };
    const act = acts[event.key];
    if (act ? act() !== false : press(event.key)) event.preventDefault();
  }
  document.addEventListener("keydown", onKey);

  if (switchKeys) {
    switchKeys.checked = !isOff();
    switchKeys.addEventListener("change", () => localStorage.setItem("holdfast-keys", switchKeys.checked ? "on" : "off"));
  }
  begin();
  fill();
  for (const opener of document.querySelectorAll("[data-keys]")) {
    opener.hidden = false;
    opener.addEventListener("click", () => help.showModal());
  }
  document.addEventListener("click", (event) => {
    for (const drop of document.querySelectorAll("details.drop[open]")) if (!drop.contains(event.target)) drop.open = false;
    const row = event.target.closest("[data-row]");
    if (row && row !== selected() && !event.target.closest("a, button, input, select, textarea, summary")) select(row);
  });
})();
