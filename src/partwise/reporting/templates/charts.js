// Charts, drawn by plotly in the colours of the page, and again when these change.
(function () {
  "use strict";
  const { data } = window.partwise;
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  function tones() {
    const style = getComputedStyle(document.documentElement);
    const tone = (name) => style.getPropertyValue(`--${name}`).trim();
    return Object.fromEntries(["ink", "soft", "line", "card", "paper", "missed", "wrong", "blank", "several", "accent"].map((name) => [name, tone(name)]).concat([["deep", tone("heat-deep")], ["middle", tone("heat-middle")], ["warm", tone("heat-warm")]]));
  }
  const scales = (tone) => ({ ink: [[0, tone.card], [0.6, tone.middle], [1, tone.deep]], warm: [[0, tone.paper], [1, tone.warm]] });

  function dressed(trace, tone) {
    const { names, codes, counts, ...own } = trace;
    if (typeof own.colorscale === "string") own.colorscale = scales(tone)[own.colorscale];
    if (codes) {
      const n = codes.colours.length;
      own.colorscale = codes.colours.flatMap((colour, i) => { const shown = tone[colour] ?? colour; return [[i / n, shown], [(i + 1) / n, shown]]; });
    }
    if (names) {
      own.customdata = own.z.map((row, i) => row.map((value, j) => `${names.rows[i]}<br>${names.columns[j]}<br><b>${codes ? codes.names[value] : counts ? counts[i][j] : value}</b>`));
      own.hovertemplate = "%{customdata}<extra></extra>";
    }
    if (counts) { own.text = counts; own.texttemplate = "%{text}"; own.textfont = { color: tone.ink }; }
    if (own.colorbar) own.colorbar = { ...own.colorbar, tickfont: { color: tone.soft, size: 10 }, len: Math.min(1, 0.9), title: { ...own.colorbar.title, font: { ...own.colorbar.title.font, color: tone.soft } } };
    return own;
  }
  function axis(own, tone) {
    return { gridcolor: tone.line, zerolinecolor: tone.line, linecolor: tone.line, automargin: true, fixedrange: false, tickfont: { size: 11, ...own?.tickfont }, zeroline: false, ...own, title: { standoff: 8, ...own?.title } };
  }
  function layout(own, tone, narrow) {
    const { xaxis, yaxis, cells, ...rest } = own;
    return {
      margin: { l: 8, r: 8, t: 12, b: 8 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: tone.soft },
      hoverlabel: { bgcolor: tone.card, bordercolor: tone.line, font: { color: tone.ink, size: 13 }, align: "left" },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: tone.soft, activecolor: tone.ink },
      legend: { orientation: "h", y: 1.12 }, dragmode: narrow ? false : "zoom",
      ...rest, xaxis: axis(xaxis, tone), yaxis: axis(yaxis, tone),
    };
  }
  // Where nothing can hover, as on phones, the tool bar would always lie over the chart.
  const hovers = !matchMedia("(hover: none)").matches;
  const config = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"], displayModeBar: hovers ? "hover" : false, plotlyServerURL: "" };

  function draw() {
    const tone = tones();
    for (const place of document.querySelectorAll("[data-figure]")) {
      const figure = data.figures[place.dataset.figure];
      const narrow = place.clientWidth < 520;
      const traces = figure.data.map((trace) => dressed(trace, tone));
      if (narrow) for (const trace of traces) if (trace.colorbar) trace.showscale = false;
      Plotly.react(place, traces, { ...layout(figure.layout, tone, narrow), height: figure.height }, config);
    }
  }
  window.partwise.tones = tones;
  window.partwise.config = config;
  window.partwise.still = () => still.matches;
  document.addEventListener("themechange", draw);
  draw();

  // A sheet of paper is white, and narrower than most screens.
  const plots = () => document.querySelectorAll(".js-plotly-plot");
  let before = null;
  function redrawn(theme, width) {
    document.documentElement.dataset.theme = theme;
    plots().forEach((plot) => { plot.style.width = width; });
    document.dispatchEvent(new CustomEvent("themechange"));
    plots().forEach((plot) => Plotly.Plots.resize(plot));
  }
  addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; redrawn("light", "640px"); });
  addEventListener("afterprint", () => { if (before) redrawn(before, ""); before = null; });
})();
