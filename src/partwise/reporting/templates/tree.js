// Topic trees: sunburst, icicle or treemap, with the path to what is in the middle, its words, and weights by class.
(function () {
  "use strict";
  const { data, tones, config, still } = window.partwise;
  const LINE = 14, LETTER = 6.6;
  for (const place of document.querySelectorAll("[data-tree]")) interactive(place, data.trees[place.dataset.tree]);

  function escaped(text) { return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"); }
  function cut(text, letters) { return text.length <= letters ? text : text.slice(0, Math.max(1, letters - 1)) + "…"; }
  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function interactive(place, tree) {
    const plot = place.querySelector(".plot"), panel = place.querySelector(".panel"), crumbs = place.querySelector(".crumbs ol");
    const nodes = new Map(tree.nodes.map((node) => [node.id, node]));
    const top = tree.nodes[0].id;
    const height = new Map();
    for (const node of [...tree.nodes].reverse()) height.set(node.id, node.children.length ? 1 + Math.max(...node.children.map((child) => height.get(child))) : 0);
    let level = top, kind = "sunburst", chosen = null, shown = top;

    const weight = (id) => (chosen === null ? nodes.get(id).weight : tree.classes[chosen].weights[Number(id)]);
    const levels = () => (plot.clientWidth < 520 ? 3 : 4);
    const share = (number) => `${(100 * number).toFixed(1)} %`;

    function sizes() {
      const wide = plot.clientWidth, high = kind === "sunburst" ? Math.min(wide, 640) : Math.min(620, Math.max(420, wide * 0.92));
      return { wide, high };
    }
    // As many words as there is room for, at a size that can be read.
    function words(node) {
      const { wide, high } = sizes(), depth = node.depth - nodes.get(level).depth;
      const part = weight(level) > 0 ? weight(node.id) / weight(level) : 0;
      const names = tree.pictures ? [node.topic === null ? `× ${node.topics.length}` : String(node.topic)] : node.words.length ? node.words : [node.label];
      const rings = Math.min(levels(), height.get(level) + 1);
      if (depth < 0 || depth >= rings || !part) return "";
      let lines, letters;
      if (kind === "sunburst") {
        const ring = (Math.min(wide, high) / 2 - 12) / rings;
        if (depth === 0) { lines = Math.floor((ring * 1.1) / LINE); letters = Math.floor((ring * 1.5) / LETTER); }
        else { lines = Math.floor((2 * Math.PI * part * ring * (depth + 0.15)) / LINE); letters = Math.floor((ring - 10) / LETTER); }
      } else if (kind === "icicle") {
        lines = Math.floor((high * part - 4) / LINE); letters = Math.floor((wide / rings - 14) / LETTER);
      } else {
        const side = Math.sqrt(wide * high * part);
        lines = node.children.length && depth < rings - 1 ? Math.min(1, Math.floor(side / 50)) : Math.floor((side - 8) / (LINE + 4)); letters = Math.floor((side * 0.9) / LETTER);
        if (lines === 1) return escaped(cut(names.slice(0, 4).join(" "), letters));
      }
      if (lines < 1 || letters < 2) return "";
      return names.slice(0, Math.min(lines, 10)).map((word) => escaped(cut(word, letters))).join("<br>");
    }
    function trace() {
      const tone = tones();
      const made = {
        type: kind, level, maxdepth: levels(), branchvalues: "remainder", sort: false,
        ids: tree.nodes.map((node) => node.id), parents: tree.nodes.map((node) => node.parent),
        labels: tree.nodes.map((node) => escaped(node.label)),
        values: tree.nodes.map((node) => (node.children.length ? 0 : weight(node.id))),
        text: tree.nodes.map(words), textinfo: "text",
        hovertext: tree.nodes.map((node) => (chosen === null ? node.hover : node.hover.replace(/, [\d.]+ %<\/b>/, `, ${share(weight(node.id))}</b>`))),
        hovertemplate: "%{hovertext}<extra></extra>",
        marker: { colors: tree.nodes.map((node) => (node.parent === "" && node.children.length ? tone.paper : node.colour)), line: { color: tree.by_importance && document.documentElement.dataset.theme === "dark" ? tone.soft : tone.card, width: 1.2 } },
        insidetextfont: { size: 12, color: tree.nodes.map((node) => (node.parent === "" && node.children.length ? tone.ink : node.ink)) },
        outsidetextfont: { size: 12, color: tone.ink },
      };
      if (kind === "sunburst") Object.assign(made, { insidetextorientation: "radial", leaf: { opacity: 1 } });
      else made.pathbar = { visible: false };
      if (kind === "icicle") Object.assign(made, { leaf: { opacity: 1 }, tiling: { pad: 1 } });
      return made;
    }
    function draw() {
      const tone = tones(), { high } = sizes();
      plot.style.height = `${high}px`;
      const layout = {
        height: high, margin: { l: 4, r: 4, t: 4, b: 4 }, paper_bgcolor: "rgba(0,0,0,0)", uniformtext: { minsize: 8, mode: "hide" },
        font: { family: getComputedStyle(document.body).fontFamily },
        hoverlabel: { bgcolor: tone.card, bordercolor: tone.line, font: { color: tone.ink, size: 13 }, align: "left" },
      };
      const ready = Plotly.react(plot, [trace()], layout, { ...config, displayModeBar: false });
      ready.then(listen);
      path();
    }
    let listening = false;
    function listen() {
      if (listening) return;
      listening = true;
      for (const name of ["sunburst", "icicle", "treemap"]) plot.on(`plotly_${name}click`, (event) => { press(event.points[0].id); return false; });
    }
    function press(id) {
      const node = nodes.get(id);
      if (id === level && node.parent !== "") zoom(node.parent);
      else if (node.children.length) zoom(id);
      else { shown = id; path(); }
    }
    function zoom(to) {
      level = shown = to;
      path();
      if (still() || kind === "treemap") { draw(); return; }
      const soft = { frame: { redraw: false, duration: 400 }, transition: { duration: 400, easing: "cubic-in-out" }, mode: "immediate", fromcurrent: true };
      Plotly.animate(plot, { data: [{ level: to }], traces: [0] }, soft).then(draw, draw);
    }
    function path() {
      const line = [];
      for (let id = shown; id !== ""; id = nodes.get(id).parent) line.unshift(id);
      crumbs.replaceChildren(...line.map((id, i) => {
        const step = element("li"), last = i === line.length - 1, made = element(last ? "span" : "button", nodes.get(id).label);
        if (last) made.setAttribute("aria-current", "true");
        else { made.type = "button"; made.addEventListener("click", () => zoom(id)); }
        made.dir = "auto";
        step.append(made);
        return step;
      }));
      describe(nodes.get(shown));
    }
    function describe(node) {
      const title = element("h4", node.label);
      title.dir = "auto";
      const said = element("p", `${share(weight(node.id))} of ${chosen === null ? "the whole" : `the class ${tree.classes[chosen].name}`}${node.topics.length > 1 ? `, ${node.topics.length} ${tree.plural}` : ""}`, "size");
      panel.replaceChildren(title, said);
      if (node.picture) {
        const picture = element("img", undefined, "part");
        picture.src = node.picture;
        picture.alt = `${node.label} as a picture`;
        panel.append(picture);
      } else if (node.words.length) {
        const list = element("ol", undefined, "bars"), most = Math.max(...node.shares, 1e-12);
        node.words.forEach((word, i) => {
          const line = element("li"), name = element("bdi", word, "feature");
          line.style.setProperty("--length", String(node.shares[i] / most));
          line.append(name, element("span", share(node.shares[i]), "weight"));
          list.append(line);
        });
        panel.style.setProperty("--own", node.parent === "" ? "var(--accent)" : node.colour);
        panel.append(list);
      } else panel.append(element("p", "No feature in it has any weight.", "size"));
      if (node.children.length) {
        panel.append(element("p", "Inside", "used"));
        const inside = element("div", undefined, "inside");
        for (const id of node.children) {
          const child = element("button", nodes.get(id).label);
          child.type = "button";
          child.dir = "auto";
          child.style.setProperty("--own", nodes.get(id).colour);
          child.addEventListener("click", () => { if (nodes.get(id).children.length) zoom(id); else { shown = id; path(); } });
          inside.append(child);
        }
        panel.append(inside);
      }
    }
    function pick(number) {
      chosen = number;
      const select = place.querySelector("select");
      if (select) select.value = number === null ? "" : String(number);
      for (const small of place.querySelectorAll("[data-class]")) small.setAttribute("aria-pressed", String(Number(small.dataset.class) === number && number !== null));
      draw();
    }
    for (const radio of place.querySelectorAll("input[type=radio]")) radio.addEventListener("change", () => { kind = radio.value; Plotly.purge(plot); listening = false; draw(); });
    place.querySelector("select")?.addEventListener("change", (event) => pick(event.target.value === "" ? null : Number(event.target.value)));
    for (const small of place.querySelectorAll("[data-class]")) small.addEventListener("click", () => { pick(small.getAttribute("aria-pressed") === "true" ? null : Number(small.dataset.class)); place.scrollIntoView({ behavior: still() ? "auto" : "smooth" }); });
    for (const format of place.querySelectorAll("[data-format]")) format.addEventListener("click", () => Plotly.downloadImage(plot, { format: format.dataset.format, filename: `topic-tree-${kind}`, width: plot.clientWidth, height: plot.clientHeight, scale: format.dataset.format === "png" ? 3 : 1 }));
    for (const entry of place.querySelectorAll("[data-node]")) entry.addEventListener("click", () => { const node = nodes.get(entry.dataset.node); if (node.children.length) zoom(node.id); else { if (node.parent !== "") zoom(node.parent); shown = node.id; path(); } });
    let waiting = 0, width = 0;
    new ResizeObserver(() => { if (plot.clientWidth === width) return; width = plot.clientWidth; clearTimeout(waiting); waiting = setTimeout(draw, 120); }).observe(plot);
    document.addEventListener("themechange", draw);
    width = plot.clientWidth;
    draw();
  }
})();
