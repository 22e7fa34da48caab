"use strict";
// What the pages share: the data, canvases on which times from view.t0 to view.t1 are seen, and how numbers are written. Each page
// says where its drawing ends (right, top_), and where an amount is (y).
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const number = n => n.toLocaleString("en-US");
const left = 102, bottom = 42;
let width = 0, height = 0, view = null;

const x = t => left + (t - view.t0) / (view.t1 - view.t0) * (width - left - right);
const timeAt = px => view.t0 + (px - left) / (width - left - right) * (view.t1 - view.t0);

function bytes(n) {
  let unit = 0;
  while (n >= 1000 && unit < 5) { n /= 1000; unit++; }
  return (+n.toPrecision(4)) + " " + ["B", "kB", "MB", "GB", "TB", "PB"][unit];
}

// An empty canvas as large as the stage.
function sized(canvas) {
  const ratio = window.devicePixelRatio || 1;
  width = $("stage").clientWidth;
  height = $("stage").clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return g;
}

// Round values between two, at most so many, and at least so far from each other.
function ticks(from, to, most, least) {
  let step = Math.pow(10, Math.floor(Math.log10((to - from) / most || 1)));
  for (const factor of [1, 2, 5, 10]) if ((to - from) / (step * factor) <= most) { step *= factor; break; }
  step = Math.max(least, step);
  const all = [];
  for (let v = Math.ceil(from / step) * step; v <= to && all.length < 100; v += step) all.push(v);
  return all;
}

// Time to the right, in steps of at least so much; upwards values from low, above the line at the height base, to high.
function grid(g, time, leastTime, amount, low, high, base, written) {
  g.fillStyle = "#566573";
  g.strokeStyle = "#e3e8ec";
  g.lineWidth = 1;
  g.font = "11px system-ui, sans-serif";
  for (const v of ticks(view.t0, view.t1, Math.max(2, (width - left) / 110), leastTime)) {
    g.beginPath(); g.moveTo(x(v), top_); g.lineTo(x(v), height - bottom); g.stroke();
    g.textAlign = "center";
    g.fillText(number(+v.toPrecision(15)), x(v), height - 26);
  }
  for (const v of ticks(low, high, Math.max(2, base / 50), 1)) {
    g.beginPath(); g.moveTo(left, y(v)); g.lineTo(width - right, y(v)); g.stroke();
    g.textAlign = "right";
    g.fillText(written(v), left - 6, y(v) + 4);
  }
  g.textAlign = "center";
  g.font = "12px system-ui, sans-serif";
  g.fillText(time, (left + width - right) / 2, height - 8);
  g.save();
  g.translate(14, (top_ + base) / 2);
  g.rotate(-Math.PI / 2);
  g.fillText(amount, 0, 0);
  g.restore();
  g.textAlign = "left";
}

// Adds what is alive to a path that begins at the amount before, from its changes [time, amount] on, and says where it ends. At most
// one step per pixel: of those that fall together, the lowest and the highest.
function steps(g, changes, before) {
  let px = -1e9, low = 0, high = 0, points = 0;
  const flush = () => { if (px > -1e9) { g.lineTo(px, y(low)); g.lineTo(px, y(high)); g.lineTo(px, y(before)); points++; } };
  for (const [t, live] of changes) {
    const at = Math.round(x(t));
    if (at !== px) {
      flush();
      g.lineTo(at, y(before));
      px = at;
      low = high = before;
    }
    low = Math.min(low, live);
    high = Math.max(high, live);
    before = live;
  }
  flush();
  return { last: before, points };
}
