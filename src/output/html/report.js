"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const results = all(".result").map((element) => ({
    element,
    status: element.dataset.status,
    level: element.dataset.level,
    formats: element.dataset.formats.split(" "),
    probes: element.dataset.probes.split(" "),
    text: "",
  }));
  const groups = all(".group").map((element) => ({ element, open: element.open }));
  const chips = all(".chip");
  const value = (id) => ($(id) ? $(id).value : "");

  const filter = () => {
    const words = value("search").toLowerCase().split(/\s+/).filter(Boolean);
    const statuses = chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.status);
    const [level, probe, format] = ["level", "probe", "format"].map(value);
    const narrowed = words.length > 0 || level || probe || format || statuses.length < chips.length;
    let shown = 0;
    for (const result of results) {
      if (words.length > 0 && !result.text) result.text = result.element.textContent.toLowerCase();
      const matches =
        statuses.includes(result.status) &&
        (!level || result.level === level) &&
        (!probe || result.probes.includes(probe)) &&
        (!format || result.formats.includes(format)) &&
        words.every((word) => result.text.includes(word));
      result.element.hidden = !matches;
      shown += matches;
    }
    for (const { element, open } of groups) {
      const left = element.querySelector(".result:not([hidden])");
      element.hidden = !left;
      element.open = narrowed ? Boolean(left) : open;
    }
    $("shown").textContent = narrowed ? `${shown} of ${results.length} checks shown` : "";
    $("none").hidden = shown > 0;
  };

  const openAll = (open) => {
    for (const { element } of results) if (!element.hidden) element.open = open;
    for (const { element } of groups) if (open && !element.hidden) element.open = true;
  };

  // Shows an element and opens all details around it.
  const reveal = (element) => {
    if (!element) return;
    for (let at = element; at; at = at.parentElement) {
      at.hidden = false;
      if (at.tagName === "DETAILS") at.open = true;
    }
    element.scrollIntoView({ block: "start" });
    const summary = element.querySelector("summary");
    if (summary) summary.focus({ preventScroll: true });
  };
  const revealTarget = () => reveal($(decodeURIComponent(location.hash.slice(1))));

  const themes = ["system", "light", "dark"];
  let theme = 0;
  const setTheme = () => {
    const name = themes[theme];
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    $("theme").textContent = `Theme: ${name}`;
  };

  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
      filter();
    });
  }
  for (const id of ["search", "level", "probe", "format"]) {
    if ($(id)) $(id).addEventListener("input", filter);
  }
  $("expand").addEventListener("click", () => openAll(true));
  $("collapse").addEventListener("click", () => openAll(false));
  $("theme").addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    setTheme();
  });
  document.addEventListener("click", (event) => {
    const bar = event.target.closest("rect[data-run]");
    if (bar) reveal($(bar.dataset.run));
    const link = event.target.closest('a[href^="#"]');
    // The hash may be the same as before.
    if (link && link.getAttribute("href") === location.hash) revealTarget();
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      $("search").focus();
    }
  });
  window.addEventListener("hashchange", revealTarget);
  window.addEventListener("beforeprint", () => openAll(true));

  $("filters").hidden = false;
  $("theme").hidden = false;
  if (location.hash) revealTarget();
})();
