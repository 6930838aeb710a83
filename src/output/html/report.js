"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const sections = all("section.target");

  // Sets up the filters of the checks of one target.
  const setUpFilters = (section) => {
    const bar = section.querySelector(".filters");
    if (!bar) return;
    const results = all(".result", section).map((element) => ({ element, text: "", ...element.dataset }));
    const chips = all(".chip", bar);
    const fields = all("[data-filter]", bar);
    const button = (name) => bar.querySelector(`[data-action="${name}"]`);

    const filter = () => {
      const values = fields.map((field) => [field.dataset.filter, field.value]);
      const { search, level, probe, format } = Object.fromEntries(values);
      const words = search.toLowerCase().split(/\s+/).filter(Boolean);
      const statuses = chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.status);
      const narrowed = Boolean(words.length > 0 || level || probe || format || statuses.length < chips.length);
      let count = 0;
      for (const result of results) {
        if (words.length > 0 && !result.text) result.text = result.element.textContent.toLowerCase();
        const matches =
          statuses.includes(result.status) &&
          (!level || result.level === level) &&
          (!probe || result.probes.split(" ").includes(probe)) &&
          (!format || result.formats.split(" ").includes(format)) &&
          words.every((word) => result.text.includes(word));
        result.element.hidden = !matches;
        count += matches;
      }
      bar.classList.toggle("narrowed", narrowed);
      button("reset").disabled = !narrowed;
      const shown = narrowed ? `${count} of ${results.length} checks match` : `${results.length} checks`;
      bar.querySelector(".shown").textContent = shown;
      section.querySelector(".none").hidden = count > 0;
    };

    for (const chip of chips) {
      chip.addEventListener("click", () => {
        chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
        filter();
      });
    }
    for (const field of fields) field.addEventListener("input", filter);
    button("reset").addEventListener("click", () => {
      for (const chip of chips) chip.ariaPressed = "true";
      for (const field of fields) field.value = "";
      filter();
    });
    const openAll = (open) => results.forEach(({ element }) => (element.open = open && !element.hidden));
    button("expand").addEventListener("click", () => openAll(true));
    button("collapse").addEventListener("click", () => openAll(false));
    bar.hidden = false;
    filter();
  };

  // Shows an element and opens all details around it.
  const reveal = (element) => {
    for (let at = element; at; at = at.parentElement) {
      at.hidden = false;
      if (at.tagName === "DETAILS") at.open = true;
    }
    element.scrollIntoView({ block: "start" });
    const summary = element.querySelector("summary");
    if (summary && element.tagName === "DETAILS") summary.focus({ preventScroll: true });
  };

  // The panel shows a run beside the report. `before` had the focus when the panel opened.
  const panel = $("panel");
  let before = null;
  let fromLink = false;
  const showRun = (run) => {
    if (!panel.open) before = document.activeElement;
    const title = document.createElement("h2");
    title.append(...run.querySelector("summary").cloneNode(true).childNodes);
    $("run").replaceChildren(title, run.querySelector(".body").cloneNode(true));
    panel.scrollTop = 0;
    if (!panel.open) panel.show();
    document.body.classList.add("beside");
    $("close").focus();
  };
  const closePanel = () => {
    panel.close();
    document.body.classList.remove("beside");
    if (before) before.focus({ preventScroll: true });
  };
  const goTo = (hash) => {
    history.pushState(null, "", hash);
    follow();
  };
  const leavePanel = () => {
    if (fromLink) history.back();
    else goTo(`#${panel.dataset.section}`);
  };

  // Shows what the address names: a run beside the report, one of several targets, a problem or a check.
  const follow = () => {
    const element = $(decodeURIComponent(location.hash.slice(1)));
    const section = element && element.closest("section.target");
    const wasOpen = panel.open;
    if (sections.length > 1) {
      for (const each of sections) each.hidden = each !== section;
      for (const board of all(".board")) board.parentElement.hidden = Boolean(section);
    }
    if (element && element.classList.contains("run")) {
      panel.dataset.section = section.id;
      showRun(element);
      return;
    }
    if (wasOpen) closePanel();
    else if (element) reveal(element);
    else window.scrollTo(0, 0);
  };

  const themes = ["system", "light", "dark"];
  let theme = 0;
  $("theme").addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    const name = themes[theme];
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    $("theme").textContent = `Theme: ${name}`;
  });

  const copy = async (button) => {
    const command = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(command.textContent.replace(/^\$ /, ""));
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command);
      button.textContent = "Selected";
    }
  };

  document.addEventListener("click", (event) => {
    const bar = event.target.closest("rect[data-run]");
    const button = event.target.closest(".copy");
    if (button) copy(button);
    const link = event.target.closest('a[href^="#"]:not(.skip)');
    if (bar || link) {
      // The browser would scroll to the run in the list of all runs.
      event.preventDefault();
      fromLink = true;
      goTo(bar ? `#${bar.dataset.run}` : link.getAttribute("href"));
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape" && panel.open) leavePanel();
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const shown = all('[data-filter="search"]').find((field) => !field.closest("section").hidden);
      event.preventDefault();
      if (shown) shown.focus();
    }
  });
  $("close").addEventListener("click", leavePanel);
  window.addEventListener("popstate", follow);
  window.addEventListener("beforeprint", () => {
    for (const element of all(".problem, .result")) element.open = true;
  });

  sections.forEach(setUpFilters);
  for (const element of all(".back, .copy")) element.hidden = false;
  $("theme").hidden = false;
  if (location.hash || sections.length > 1) follow();
})();
