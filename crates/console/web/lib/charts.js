// Charts as inline SVG, each with its numbers as text for screen readers.

import { t } from "../texts.js";
import { number, percent } from "./format.js";
import { Table } from "./ui.js";
import { html, useState } from "./view.js";

const WIDTH = 720;
const HEIGHT = 140;

/** @typedef {{ name: string, good: number, bad: number }} Bar */

/** The numbers of the bars that are not empty, for keyboards and phones, which have no pointer above a bar.
 * @param {{ label: string, bars: Bar[], names: { good: string, bad: string } }} p */
function Numbers({ label, bars, names }) {
  const columns = [
    { name: "hour", label: t.charts.hour, isMain: true, cell: (/** @type {Bar} */ bar) => bar.name },
    { name: "good", label: names.good, isNumber: true, cell: (/** @type {Bar} */ bar) => number(bar.good) },
    { name: "bad", label: names.bad, isNumber: true, cell: (/** @type {Bar} */ bar) => number(bar.bad) },
  ];
  const rows = bars.filter((bar) => bar.good + bar.bad > 0).reverse();
  return html`<details><summary>${t.charts.numbers}</summary>
    <${Table} caption=${label} columns=${columns} rows=${rows} keyOf=${(/** @type {Bar} */ bar) => bar.name} /></details>`;
}

/**
 * Bars of two parts over time: what went well below, what failed above it.
 * @param {{ label: string, bars: Bar[],
 *   names: { good: string, bad: string } }} p
 */
export function Bars({ label, bars, names }) {
  const most = Math.max(...bars.map((bar) => bar.good + bar.bad));
  if (!(most > 0)) return html`<p class="muted">${t.charts.none}</p>`;
  const step = WIDTH / Math.max(1, bars.length);
  const size = (/** @type {number} */ count) => (count === 0 ? 0 : Math.max(2, (count / most) * (HEIGHT - 4)));
  return html`<figure class="chart">
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${label}>
      <line class="grid" x1="0" x2=${WIDTH} y1=${HEIGHT / 2} y2=${HEIGHT / 2} />
      <line class="axis" x1="0" x2=${WIDTH} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5} />
      ${bars.map((bar, at) => {
        const [good, bad] = [size(bar.good), size(bar.bad)];
        const [x, width] = [at * step + step * 0.15, step * 0.7];
        return html`<g key=${at}>
          <title>${`${bar.name}: ${bar.good} ${names.good}, ${bar.bad} ${names.bad}`}</title>
          <rect class="whole" x=${at * step} y="0" width=${step} height=${HEIGHT} />
          <rect class="good" x=${x} y=${HEIGHT - good} width=${width} height=${good} />
          <rect class="bad" x=${x} y=${HEIGHT - good - bad} width=${width} height=${bad} /></g>`;
      })}
    </svg>
    <figcaption><span>${bars[0]?.name}</span>
      <span class="legend"><i class="good"></i>${names.good}<i class="bad"></i>${names.bad}</span>
      <span>${bars.at(-1)?.name}</span></figcaption>
    <span class="scale muted">${number(most)}</span><${Numbers} label=${label} bars=${bars} names=${names} />
  </figure>`;
}

const SPARK = { width: 96, height: 24 };

/** Bars in the height of a line. The text beside them has the numbers. @param {{ bars: Bar[] }} p */
export function Spark({ bars }) {
  const most = Math.max(1, ...bars.map((bar) => bar.good + bar.bad));
  const step = SPARK.width / Math.max(1, bars.length);
  const size = (/** @type {number} */ count) => (count === 0 ? 0 : Math.max(1.5, (count / most) * (SPARK.height - 2)));
  return html`<svg class="spark" viewBox=${`0 0 ${SPARK.width} ${SPARK.height}`} aria-hidden="true">
    <line class="axis" x1="0" x2=${SPARK.width} y1=${SPARK.height - 0.5} y2=${SPARK.height - 0.5} />
    ${bars.map((bar, at) => {
      const [good, bad] = [size(bar.good), size(bar.bad)];
      return html`<g key=${at}><rect class="good" x=${at * step + 0.5} y=${SPARK.height - good} width=${step - 1} height=${good} />
        <rect class="bad" x=${at * step + 0.5} y=${SPARK.height - good - bad} width=${step - 1} height=${bad} /></g>`;
    })}</svg>`;
}

/** The used part of a limit. @param {{ label: string, part: number, whole: number, text: string }} p */
export function Meter({ label, part, whole, text }) {
  const share = whole ? Math.min(1, part / whole) : 0;
  return html`<div class="meter"><div class="meter-text"><span>${label}</span><span>${text}</span></div>
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=${`${label}: ${text}`}>
      <rect class="track" width="100" height="6" /><rect class=${share > 0.8 ? "bad" : "fill"} width=${share * 100}
        height="6" />
    </svg></div>`;
}

/** The part of a way that is done. @param {{ label: string, of: number, text: string }} p */
export const Progress = ({ label, of, text }) => html`<div class="meter">
  <div class="meter-text"><span dir="auto">${label}</span><span>${text}</span></div>
  <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=${`${label}: ${percent(of, 100)}, ${text}`}>
    <rect class="track" width="100" height="6" /><rect class="fill" width=${of} height="6" /></svg></div>`;

/** The part of a way that is done, in a line. @param {{ of: number | null }} p */
export const Share = ({ of }) => of === null ? html`<span class="muted">–</span>` : html`<span class="share"><span>${percent(of, 100)}</span>
  <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" /><rect class="fill" width=${of} height="6" /></svg></span>`;

/**
 * A line of percents between two times. Points outside of them are at the edges. A tap chooses the nearest point, so the
 * target of each point is as tall as the chart.
 * @param {{ label: string, from: number, to: number, names: [string, string],
 *   points: { at: number, value: number, name: string }[] }} p
 */
export function Line({ label, from, to, names, points }) {
  const [chosen, setChosen] = useState(-1);
  if (points.length === 0) return null;
  const x = (/** @type {number} */ at) => WIDTH * Math.min(1, Math.max(0, (at - from) / Math.max(1, to - from)));
  const y = (/** @type {number} */ value) => (HEIGHT - 4) * (1 - value / 100) + 2;
  const last = points.at(-1)?.value ?? 0;
  const choose = (/** @type {PointerEvent & { currentTarget: SVGElement }} */ event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const tapped = ((event.clientX - left) / Math.max(1, width)) * WIDTH;
    const distances = points.map((point) => Math.abs(x(point.at) - tapped));
    setChosen(distances.lastIndexOf(Math.min(...distances)));
  };
  const point = points[chosen];
  return html`<figure class="chart">
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" onClick=${choose}
      aria-label=${`${label}: ${percent(points[0]?.value ?? 0, 100)} – ${percent(last, 100)}`}>
      <line class="grid" x1="0" x2=${WIDTH} y1=${HEIGHT / 2} y2=${HEIGHT / 2} />
      <line class="axis" x1="0" x2=${WIDTH} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5} />
      <polyline class="line" points=${points.map((point) => `${x(point.at)},${y(point.value)}`).join(" ")} />
      ${points.map((one, at) => html`<path key=${at} class=${at === chosen ? "point chosen" : "point"}
        d=${`M${x(one.at)} ${y(one.value)}h0.01`}><title>${`${one.name}: ${percent(one.value, 100)}`}</title></path>`)}
    </svg>
    <figcaption><span>${names[0]}</span><span>${names[1]}</span>
      <strong aria-live="polite">${point && `${point.name}: ${percent(point.value, 100)}`}</strong></figcaption>
  </figure>`;
}
