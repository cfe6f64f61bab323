// The switch between light and dark, and tables: sorted, searched, paged. Cells are set as text, never as HTML.
(function () {
  "use strict";
  const root = document.documentElement;
  const button = document.getElementById("theme");

  function named() {
    const dark = root.dataset.theme === "dark";
    button.setAttribute("aria-pressed", String(dark));
    button.lastElementChild.textContent = dark ? "Light" : "Dark";
  }
  function choose(theme, keep) {
    root.dataset.theme = theme;
    if (keep) try { localStorage.setItem("partwise-theme", theme); } catch { /* not kept, then */ }
    named();
    document.dispatchEvent(new CustomEvent("themechange"));
  }
  button.addEventListener("click", () => choose(root.dataset.theme === "dark" ? "light" : "dark", true));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => choose(event.matches ? "dark" : "light", false));
  named();

  const data = JSON.parse(document.getElementById("page-data").textContent);
  window.partwise = { data };
  for (const place of document.querySelectorAll("[data-table]")) interactive(place, data.tables[place.dataset.table]);

  function interactive(place, table) {
    const body = place.querySelector("tbody");
    const search = place.querySelector("input");
    const count = place.querySelector(".count");
    const pager = place.querySelector(".pager");
    const texts = table.rows.map((row) => row.join(" ").toLowerCase());
    let sorted = null, falling = false, page = 0, found = table.rows.map((_, i) => i);

    const heads = [...place.querySelectorAll("th")];
    heads.forEach((head, column) => {
      const sort = document.createElement("button");
      sort.type = "button";
      sort.textContent = head.textContent;
      head.replaceChildren(sort);
      sort.addEventListener("click", () => {
        falling = sorted === column ? !falling : table.columns[column].numeric;
        sorted = column;
        page = 0;
        update();
      });
    });
    if (search) search.addEventListener("input", () => { page = 0; update(); });

    function compare(a, b) {
      const x = table.rows[a][sorted], y = table.rows[b][sorted];
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true });
      return (falling ? -order : order) || a - b;
    }
    function update() {
      const words = search ? search.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
      found = table.rows.map((_, i) => i).filter((i) => words.every((word) => texts[i].includes(word)));
      if (sorted !== null) found.sort(compare);
      heads.forEach((head, column) => {
        if (column === sorted) head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      show();
    }
    function show() {
      const pages = Math.max(1, Math.ceil(found.length / table.page));
      page = Math.min(page, pages - 1);
      body.replaceChildren(...found.slice(page * table.page, (page + 1) * table.page).map(line));
      if (!found.length) body.append(nothing());
      if (count) count.textContent = found.length === table.rows.length ? `${found.length.toLocaleString("en")} rows` : `${found.length.toLocaleString("en")} of ${table.rows.length.toLocaleString("en")} rows`;
      if (!pager) return;
      const where = document.createElement("span");
      where.textContent = `Page ${(page + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
      pager.replaceChildren(turn("First", 0, page > 0), turn("Previous", page - 1, page > 0), where, turn("Next", page + 1, page < pages - 1), turn("Last", pages - 1, page < pages - 1));
    }
    function turn(name, to, possible) {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = name;
      made.disabled = !possible;
      made.addEventListener("click", () => {
        page = to;
        show();
        const again = [...pager.querySelectorAll("button")].find((one) => one.textContent === name);
        (again.disabled ? pager.querySelector("button:not(:disabled)") : again)?.focus();
      });
      return made;
    }
    function line(i) {
      const row = document.createElement("tr");
      table.rows[i].forEach((cell, column) => {
        const place = document.createElement("td"), text = document.createElement("bdi");
        place.className = table.columns[column].numeric ? "number" : "words";
        text.textContent = cell === null ? "" : String(cell);
        place.append(text);
        row.append(place);
      });
      return row;
    }
    function nothing() {
      const row = document.createElement("tr"), cell = document.createElement("td");
      cell.colSpan = table.columns.length;
      cell.className = "empty";
      cell.textContent = "No row has this text.";
      row.append(cell);
      return row;
    }
    show();
  }
})();
