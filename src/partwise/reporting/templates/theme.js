// Light or dark: what the reader chose last time, else what the system prefers. Runs before anything is painted.
(function () {
  "use strict";
  let chosen = null;
  try { chosen = localStorage.getItem("partwise-theme"); } catch { /* a file opened where nothing may be kept */ }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
